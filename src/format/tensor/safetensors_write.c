// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing safetensors: the header is built as JSON, whose sorted dump is the same text for the same
// tensors, and padded so that the data starts at a multiple of 8 bytes, or of as many as are asked
// for.
#include "src/format/tensor/safetensors.h"

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static size_t element_size(const zn_file_tensor *tensor)
{
    return zn_type_size(tensor->type);
}

static int in_file_order(const void *a, const void *b)
{
    const zn_file_tensor *x = a, *y = b;
    if (element_size(x) != element_size(y)) return element_size(x) > element_size(y) ? -1 : 1;
    return strcmp(x->name, y->name);
}

// {"dtype", "shape", "data_offsets"} of a tensor at *offset, which moves past it. NULL: no memory.
static json_t *describe(const zn_file_tensor *tensor, size_t bytes, size_t *offset)
{
    json_t *shape = json_array();
    for (int i = 0; shape && i < tensor->shape.rank; i++) {
        if (json_array_append_new(shape, json_integer(tensor->shape.dim[i])) != 0) {
            json_decref(shape);
            shape = NULL;
        }
    }
    size_t begin = *offset;
    *offset += bytes;
    // "o" takes the shape over, also when it fails.
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", zn_safetensors_dtype(tensor->type), "shape",
                     shape, "data_offsets", (json_int_t)begin, (json_int_t)*offset);
}

// Jansson says the same for broken text as for a lack of memory.
static bool is_utf8(const char *text)
{
    const size_t length = strlen(text);
    return zn_utf8_valid(text, length) == length;
}

// Adds a key that must be new and valid UTF-8. Takes `value` over; NULL: there was no memory.
static zenith_status add_member(json_t *object, const char *key, json_t *value, zn_error *err)
{
    if (!value) return zn_fail_memory(err, sizeof *value);
    const char *wrong = json_object_get(object, key) ? "occurs twice"
                        : !is_utf8(key)              ? "is not valid UTF-8"
                                                     : NULL;
    if (wrong) {
        json_decref(value);
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the name \"%s\" %s", key, wrong);
    }
    // Takes the value over also when it fails.
    if (json_object_set_new(object, key, value) != 0) return zn_fail_memory(err, sizeof *value);
    return ZENITH_OK;
}

static zenith_status add_metadata(json_t *header, const zn_metadata *metadata, size_t pairs,
                                  zn_error *err)
{
    if (pairs == 0) return ZENITH_OK;
    json_t *object = json_object();
    if (!object || json_object_set_new(header, "__metadata__", object) != 0)
        return zn_fail_memory(err, sizeof *object);
    for (size_t i = 0; i < pairs; i++) {
        const char *key = metadata[i].key, *value = metadata[i].value;
        if (!is_utf8(value))
            return zn_fail(err, ZENITH_INVALID_ARGUMENT, "\"%s\": not valid UTF-8", key);
        ZN_TRY(add_member(object, key, json_string(value), err));
    }
    return ZENITH_OK;
}

static zenith_status add_tensors(json_t *header, const zn_file_tensor *tensors, size_t count,
                                 zn_error *err)
{
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        zn_desc desc = zn_desc_make(tensors[i].type, tensors[i].shape);
        size_t bytes, end;
        if (!zn_desc_bytes(&desc, &bytes) || !zn_add_size(offset, bytes, &end) || end > INT64_MAX)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT, "tensor \"%s\" is too large",
                           tensors[i].name);
        json_t *entry = describe(&tensors[i], bytes, &offset);
        if (!entry) return zn_fail_memory(err, sizeof *entry);
        ZN_TRY(add_member(header, tensors[i].name, entry, err));
    }
    return ZENITH_OK;
}

static zenith_status write_text(zn_writer *writer, const char *text, size_t size, size_t align,
                                zn_error *err)
{
    uint8_t length[8];
    const size_t padded = zn_round_up(sizeof length + size, align) - sizeof length;
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)((uint64_t)padded >> (8 * i));
    ZN_TRY(zn_writer_write(writer, length, sizeof length, err));
    ZN_TRY(zn_writer_write(writer, text, size, err));
    for (size_t i = size; i < padded; i++) ZN_TRY(zn_writer_write(writer, " ", 1, err));
    return ZENITH_OK;
}

zenith_status zn_safetensors_write_ordered(zn_writer *writer, const zn_file_tensor *tensors,
                                           size_t count, const zn_metadata *metadata, size_t pairs,
                                           size_t align, zn_error *err)
{
    zenith_status status;
    char *text = NULL;
    size_t size = 0;
    json_t *header = json_object();
    if (!header) return zn_fail_memory(err, sizeof *header);
    ZN_GO(add_metadata(header, metadata, pairs, err));
    ZN_GO(add_tensors(header, tensors, count, err));
    ZN_GO(zn_json_dump(header, &text, &size, err));
    ZN_GO(write_text(writer, text, size, align, err));
fail:
    zn_free(text);
    json_decref(header);
    return status;
}

zenith_status zn_safetensors_write_header(zn_writer *writer, zn_file_tensor *tensors, size_t count,
                                          const zn_metadata *metadata, size_t pairs, zn_error *err)
{
    if (count) qsort(tensors, count, sizeof *tensors, in_file_order);
    return zn_safetensors_write_ordered(writer, tensors, count, metadata, pairs, 8, err);
}

zenith_status zn_safetensors_write(zn_writer *writer, zn_file_tensor *tensors, size_t count,
                                   const zn_metadata *metadata, size_t pairs, zn_error *err)
{
    ZN_TRY(zn_safetensors_write_header(writer, tensors, count, metadata, pairs, err));
    for (size_t i = 0; i < count; i++) {
        zn_desc desc = zn_desc_make(tensors[i].type, tensors[i].shape);
        size_t bytes;
        if (!zn_desc_bytes(&desc, &bytes))
            return zn_fail(err, ZENITH_INTERNAL, "a tensor grew while it was written");
        if (bytes) ZN_TRY(zn_writer_write(writer, tensors[i].data, bytes, err));
    }
    return ZENITH_OK;
}
