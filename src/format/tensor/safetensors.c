// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading safetensors. The header is parsed once into an array of tensors; the array is first
// sorted by offset, where "the next one begins where the last one ended" says at once that there
// are no overlaps and no holes, and then by name, where it stays for binary search.
#include "src/format/tensor/safetensors.h"

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/format/image/image.h"
#include "src/format/tensor/tensor_file.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, NAME_SHOWN = 100 }; // of a long name, this much goes into a message
#define METADATA_KEY "__metadata__"

struct zn_safetensors {
    zn_tensor_file base; // first
    const uint8_t *data;
    size_t data_size;
    zn_metadata *metadata;
    size_t pairs;
};

static const struct {
    const char *dtype;
    size_t size; // bytes of an element
    bool supported;
    zn_type type;
} types[] = {
    {"F64", 8, true, ZN_F64},         {"F32", 4, true, ZN_F32},   {"F16", 2, true, ZN_F16},
    {"BF16", 2, true, ZN_BF16},       {"I64", 8, true, ZN_S64},   {"I32", 4, true, ZN_S32},
    {"I16", 2, true, ZN_S16},         {"I8", 1, true, ZN_S8},     {"U16", 2, true, ZN_U16},
    {"U8", 1, true, ZN_U8},           {"BOOL", 1, true, ZN_BOOL}, {"F8_E4M3", 1, true, ZN_F8_E4M3},
    {"F8_E5M2", 1, true, ZN_F8_E5M2}, {"U64", 8, false, ZN_U8},   {"U32", 4, false, ZN_U8},
};
enum { TYPES = sizeof types / sizeof *types };

const char *zn_safetensors_dtype(zn_type type)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].supported && types[i].type == type) return types[i].dtype;
    return "?";
}

// --- one tensor's entry; messages here say only what is wrong, read_tensor adds where

typedef struct entry_reader {
    zn_safetensors *file;
    size_t tensor; // how many are done
    size_t pair;
} entry_reader;

static zenith_status read_shape(const zn_json *entry, zn_shape *out, zn_error *err)
{
    const zn_json *dims = NULL;
    ZN_TRY(zn_json_get_array(entry, "shape", &dims, err));
    size_t rank = zn_json_size(dims);
    if (rank > ZN_MAX_RANK)
        return zn_fail(err, ZENITH_UNSUPPORTED, "it has %zu dimensions; at most %d are supported",
                       rank, ZN_MAX_RANK);
    *out = (zn_shape){.rank = (int)rank};
    for (size_t i = 0; i < rank; i++)
        if (!zn_json_as_integer(zn_json_at(dims, i), &out->dim[i]) || out->dim[i] < 0)
            return zn_fail(err, ZENITH_BAD_FILE, "a dimension is not a whole number from 0 up");
    size_t elements;
    if (!zn_shape_elements(out, &elements))
        return zn_fail(err, ZENITH_BAD_FILE, "the product of its dimensions is too large");
    return ZENITH_OK;
}

static zenith_status read_offsets(const zn_safetensors *file, const zn_json *entry,
                                  zn_file_tensor *out, zn_error *err)
{
    const zn_json *pair = NULL;
    int64_t begin = 0, end = 0;
    ZN_TRY(zn_json_get_array(entry, "data_offsets", &pair, err));
    if (zn_json_size(pair) != 2 || !zn_json_as_integer(zn_json_at(pair, 0), &begin) ||
        !zn_json_as_integer(zn_json_at(pair, 1), &end) || begin < 0 || end < begin)
        return zn_fail(err, ZENITH_BAD_FILE, "\"data_offsets\" must be [begin, end], begin <= end");
    if ((uint64_t)end > file->data_size)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "it ends at byte %lld of the data, which has only %zu: the file is cut "
                       "short or broken",
                       (long long)end, file->data_size);
    out->data = file->data + (size_t)begin;
    out->bytes = (size_t)(end - begin);
    return ZENITH_OK;
}

// Finds the type and, where it is one whose size we know, compares it with the bytes.
static zenith_status check_type(const char *dtype, zn_file_tensor *tensor, zn_error *err)
{
    tensor->type = ZN_U8;
    tensor->supported = false;
    for (size_t i = 0; i < TYPES; i++) {
        if (strcmp(types[i].dtype, dtype) != 0) continue;
        tensor->type = types[i].type;
        tensor->supported = types[i].supported;
        size_t elements, bytes;
        if (zn_shape_elements(&tensor->shape, &elements) &&
            zn_mul_size(elements, types[i].size, &bytes) && bytes == tensor->bytes)
            return ZENITH_OK;
        char shape[128];
        zn_shape_text(&tensor->shape, shape, sizeof shape);
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s of type %s does not make the %zu bytes that its offsets say", shape,
                       dtype, tensor->bytes);
    }
    return ZENITH_OK;
}

static zenith_status describe_tensor(const zn_safetensors *file, const zn_json *entry,
                                     const char **dtype, zn_file_tensor *out, zn_error *err)
{
    if (!zn_json_is_object(entry))
        return zn_fail(err, ZENITH_BAD_FILE, "it is not described by an object");
    ZN_TRY(zn_json_get_text(entry, "dtype", dtype, err));
    ZN_TRY(read_shape(entry, &out->shape, err));
    ZN_TRY(read_offsets(file, entry, out, err));
    return check_type(*dtype, out, err);
}

static zenith_status read_tensor(zn_safetensors *file, const char *name, const zn_json *entry,
                                 zn_file_tensor *out, zn_error *err)
{
    const char *dtype = NULL;
    zn_error what = {{0}};
    zenith_status status = describe_tensor(file, entry, &dtype, out, &what);
    if (status != ZENITH_OK)
        return zn_fail(err, status, "%s: tensor \"%.*s\": %s", file->base.name, NAME_SHOWN, name,
                       what.text);
    out->name = zn_arena_text(&file->base.arena, name);
    out->dtype = zn_arena_text(&file->base.arena, dtype);
    if (!out->name || !out->dtype) return zn_fail_memory(err, strlen(name) + strlen(dtype) + 2);
    return ZENITH_OK;
}

// --- the header

static zenith_status read_pair(void *cookie, const char *key, const zn_json *value, zn_error *err)
{
    entry_reader *reader = cookie;
    zn_safetensors *file = reader->file;
    const char *text;
    if (!zn_json_as_text(value, &text))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: metadata \"%.*s\" is not a string",
                       file->base.name, NAME_SHOWN, key);
    zn_metadata *pair = &file->metadata[reader->pair++];
    pair->key = zn_arena_text(&file->base.arena, key);
    pair->value = zn_arena_text(&file->base.arena, text);
    if (!pair->key || !pair->value) return zn_fail_memory(err, strlen(key) + strlen(text) + 2);
    return ZENITH_OK;
}

static zenith_status read_metadata(entry_reader *reader, const zn_json *value, zn_error *err)
{
    zn_safetensors *file = reader->file;
    if (!zn_json_is_object(value))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: " METADATA_KEY " is not an object",
                       file->base.name);
    file->pairs = zn_json_size(value);
    file->metadata = zn_arena_alloc(&file->base.arena, file->pairs * sizeof *file->metadata);
    if (!file->metadata) return zn_fail_memory(err, file->pairs * sizeof *file->metadata);
    return zn_json_each(value, read_pair, reader, err);
}

static zenith_status read_entry(void *cookie, const char *key, const zn_json *value, zn_error *err)
{
    entry_reader *reader = cookie;
    if (strcmp(key, METADATA_KEY) == 0) return read_metadata(reader, value, err);
    zn_file_tensor *tensor = &reader->file->base.tensors[reader->tensor++];
    return read_tensor(reader->file, key, value, tensor, err);
}

static zenith_status read_header(zn_safetensors *file, const zn_json *header, zn_error *err)
{
    if (!zn_json_is_object(header))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: the header is not a JSON object",
                       file->base.name);
    ZN_TRY(zn_tensor_file_reserve(&file->base, zn_json_size(header), err));
    entry_reader reader = {.file = file};
    ZN_TRY(zn_json_each(header, read_entry, &reader, err));
    file->base.count = reader.tensor;
    return ZENITH_OK;
}

static int by_offset(const void *a, const void *b)
{
    const zn_file_tensor *x = a, *y = b;
    if (x->data != y->data) return x->data < y->data ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes; // empty ones first
}

static int metadata_by_key(const void *a, const void *b)
{
    return strcmp(((const zn_metadata *)a)->key, ((const zn_metadata *)b)->key);
}

// No overlaps and no holes; see the top. Leaves the tensors sorted by name.
static zenith_status check_cover(zn_safetensors *file, zn_error *err)
{
    if (file->base.count)
        qsort(file->base.tensors, file->base.count, sizeof *file->base.tensors, by_offset);
    const uint8_t *at = file->data;
    for (size_t i = 0; i < file->base.count; i++) {
        const zn_file_tensor *tensor = &file->base.tensors[i];
        if (tensor->data != at)
            return zn_fail(err, ZENITH_BAD_FILE,
                           "%s: tensor \"%.*s\" begins at byte %zu of the data, but byte %zu is "
                           "next: tensors overlap or leave a hole",
                           file->base.name, NAME_SHOWN, tensor->name,
                           (size_t)(tensor->data - file->data), (size_t)(at - file->data));
        at += tensor->bytes;
    }
    if (at != file->data + file->data_size)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: %zu bytes of data, but the tensors have only %zu: the rest belongs to "
                       "none",
                       file->base.name, file->data_size, (size_t)(at - file->data));
    zn_tensor_file_sort(&file->base);
    if (file->pairs) qsort(file->metadata, file->pairs, sizeof *file->metadata, metadata_by_key);
    return ZENITH_OK;
}

// Files that are often named in the place of one of these; NULL: none of them.
static const char *other_kind(const uint8_t *bytes, size_t size)
{
    static const struct {
        const char *begin, *kind;
    } kinds[] = {{"\x93NUMPY", "an npy array"},
                 {"YUV4MPEG2", "a y4m video"},
                 {"GGUF", "a GGUF file whose name does not end in .gguf"},
                 {"PK\x03\x04", "a zip archive, such as npz or a checkpoint of PyTorch"}};
    static const char *const pictures[] = {
        [ZN_IMAGE_JPEG] = "a JPEG", [ZN_IMAGE_PNG] = "a PNG", [ZN_IMAGE_WEBP] = "a WebP"};
    const size_t picture = (size_t)zn_image_sniff(bytes, size);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].begin);
        if (size >= length && memcmp(bytes, kinds[i].begin, length) == 0) return kinds[i].kind;
    }
    return picture < sizeof pictures / sizeof *pictures ? pictures[picture] : NULL;
}

static zenith_status parse(zn_tensor_file *base, const uint8_t *bytes, size_t size, zn_error *err)
{
    zn_safetensors *file = (zn_safetensors *)base;
    const char *kind = other_kind(bytes, size);
    if (kind)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: this is %s, not a safetensors file",
                       file->base.name, kind);
    if (size == 0) return zn_fail(err, ZENITH_BAD_FILE, "%s: the file is empty", file->base.name);
    if (size < LENGTH_BYTES)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: %zu bytes are too few for a safetensors file",
                       file->base.name, size);
    uint64_t length = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--) length = length << 8 | bytes[i];
    if (length > size - LENGTH_BYTES || length > ZN_JSON_MAX_BYTES)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: not a safetensors file, or cut short: its header would have %llu bytes "
                       "(file: %zu bytes, limit: %zu)",
                       file->base.name, (unsigned long long)length, size, ZN_JSON_MAX_BYTES);
    file->data = bytes + LENGTH_BYTES + (size_t)length;
    file->data_size = size - LENGTH_BYTES - (size_t)length;
    zn_json *header = NULL;
    ZN_TRY(zn_json_parse((const char *)bytes + LENGTH_BYTES, (size_t)length, file->base.name,
                         &header, err));
    zenith_status status = read_header(file, header, err);
    zn_json_free(header);
    ZN_TRY(status);
    return check_cover(file, err);
}

static const zn_tensor_format format = {sizeof(zn_safetensors), parse};

zenith_status zn_safetensors_open_memory(const uint8_t *data, size_t size, const char *name,
                                         zn_safetensors **out, zn_error *err)
{
    zn_tensor_file *file = NULL;
    ZN_TRY(zn_tensor_file_open_memory(&format, data, size, name, &file, err));
    *out = (zn_safetensors *)file;
    return ZENITH_OK;
}

zenith_status zn_safetensors_open(const char *path, zn_safetensors **out, zn_error *err)
{
    zn_tensor_file *file = NULL;
    ZN_TRY(zn_tensor_file_open(&format, path, &file, err));
    *out = (zn_safetensors *)file;
    return ZENITH_OK;
}

void zn_safetensors_forget(const zn_safetensors *file)
{
    zn_tensor_file_forget(&file->base);
}

void zn_safetensors_free(zn_safetensors *file)
{
    zn_tensor_file_free((zn_tensor_file *)file);
}

// --- what an open file answers

size_t zn_safetensors_count(const zn_safetensors *file)
{
    return file->base.count;
}

const zn_file_tensor *zn_safetensors_get(const zn_safetensors *file, size_t index)
{
    return &file->base.tensors[index];
}

const zn_file_tensor *zn_safetensors_find(const zn_safetensors *file, const char *name)
{
    return zn_tensor_file_find(&file->base, name);
}

const char *zn_safetensors_metadata(const zn_safetensors *file, const char *key)
{
    zn_metadata wanted = {.key = key};
    if (file->pairs == 0) return NULL;
    const zn_metadata *pair = bsearch(&wanted, file->metadata, file->pairs, sizeof wanted,
                                      metadata_by_key);
    return pair ? pair->value : NULL;
}

size_t zn_safetensors_metadata_count(const zn_safetensors *file)
{
    return file->pairs;
}

zn_metadata zn_safetensors_metadata_get(const zn_safetensors *file, size_t index)
{
    return file->metadata[index];
}
