// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading GGUF: one walk from front to back. Counts are compared with what is left of the file
// before arrays for them are allocated: a value takes at least 13 bytes and a tensor 24. Tensors
// are then sorted by offset, where "the next one begins after the last one ended" says that none
// overlap, and then by name, where they stay for binary search.
#include "src/format/tensor/gguf.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/tensor/gguf_cursor.h"
#include "src/format/tensor/tensor_file.h"

#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 3,
    ALIGNMENT = 32,
    MOST_DIMENSIONS = 4,
    MOST_NESTING = 4, // arrays in arrays
    LONGEST_NAME = 1024,
    LONGEST_TEXT = 1 << 16, // of which there is a copy
    NAME_SHOWN = 100,
    LEAST_VALUE = 8 + 4 + 1,
    LEAST_TENSOR = 8 + 4 + 4 + 8,
};
#define MOST_ENTRIES ((size_t)1 << 20)

// Where a tensor's bytes shall be, until they are looked for there.
typedef struct record {
    zn_file_tensor *tensor;
    uint64_t offset;
} record;

struct zn_gguf {
    zn_tensor_file base; // first
    zn_gguf_value *values;
    size_t pairs;
};

static const struct {
    const char *dtype;
    uint32_t number;
    zn_type type;
} plain_types[] = {
    {"F32", 0, ZN_F32},  {"F16", 1, ZN_F16},  {"I8", 24, ZN_S8},   {"I16", 25, ZN_S16},
    {"I32", 26, ZN_S32}, {"I64", 27, ZN_S64}, {"F64", 28, ZN_F64}, {"BF16", 30, ZN_BF16},
};
enum { PLAIN_TYPES = sizeof plain_types / sizeof *plain_types };

static zenith_status cut_short(const zn_gguf *file, const zn_gguf_cursor *at, const char *what,
                               zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE,
                   "%s: %s at byte %zu does not end within the %zu bytes of the file: it is cut "
                   "short or broken",
                   file->base.name, what, at->at, at->size);
}

// Whether bytes are UTF-8 without control characters of ASCII: names go into messages and JSON.
static bool is_clean_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((uint8_t)text[i] < 0x20 || text[i] == 0x7f) return false;
    return zn_utf8_valid(text, length) == length;
}

// A copy with a closing zero of a name or key.
static zenith_status take_name(zn_gguf *file, zn_gguf_cursor *at, const char *what,
                               const char **out, zn_error *err)
{
    zn_gguf_text text;
    const size_t start = at->at;
    if (!zn_gguf_take_text(at, &text)) return cut_short(file, at, what, err);
    if (text.length > LONGEST_NAME || !is_clean_text(text.data, text.length))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: %s at byte %zu is no plain text of at most %d bytes", file->base.name,
                       what, start, LONGEST_NAME);
    char *copy = zn_arena_alloc(&file->base.arena, text.length + 1);
    if (!copy) return zn_fail_memory(err, text.length + 1);
    memcpy(copy, text.data, text.length);
    *out = copy;
    return ZENITH_OK;
}

// --- values

// Moves past a number, a text or an array; false where it does not end in the file, has a type that
// is none, or arrays in arrays too deep. A nested array takes 12 bytes at least, so the loop is
// bounded by the file and not by the count that it says.
static bool skip_value(zn_gguf_cursor *at, uint32_t type, int depth)
{
    uint32_t item;
    uint64_t count;
    size_t bytes;
    zn_gguf_text text;
    const uint8_t *src;
    if (type >= ZN_GGUF_TYPES) return false;
    if (type == ZN_GGUF_TEXT) return zn_gguf_take_text(at, &text);
    if (type != ZN_GGUF_ARRAY) return zn_gguf_take(at, zn_gguf_type_bytes(type), &src);
    if (depth >= MOST_NESTING || !zn_gguf_take_u32(at, &item) || !zn_gguf_take_u64(at, &count) ||
        item >= ZN_GGUF_TYPES || count > SIZE_MAX)
        return false;
    if (zn_gguf_type_bytes(item) > 0)
        return zn_mul_size((size_t)count, zn_gguf_type_bytes(item), &bytes) &&
               zn_gguf_take(at, bytes, &src);
    for (uint64_t i = 0; i < count; i++)
        if (!skip_value(at, item, depth + 1)) return false;
    return true;
}

static zenith_status copy_text(zn_gguf *file, zn_gguf_value *value, zn_error *err)
{
    zn_gguf_text text;
    if (!zn_gguf_as_text(value, &text) || text.length > LONGEST_TEXT ||
        memchr(text.data, 0, text.length))
        return ZENITH_OK;
    char *copy = zn_arena_alloc(&file->base.arena, text.length + 1);
    if (!copy) return zn_fail_memory(err, text.length + 1);
    memcpy(copy, text.data, text.length);
    value->text = copy;
    return ZENITH_OK;
}

static zenith_status read_value(zn_gguf *file, zn_gguf_cursor *at, zn_gguf_value *out,
                                zn_error *err)
{
    uint32_t type, item;
    uint64_t count;
    ZN_TRY(take_name(file, at, "the key of a value", &out->key, err));
    if (!zn_gguf_take_u32(at, &type)) return cut_short(file, at, "the type of a value", err);
    zn_gguf_cursor inside = *at;
    if (!skip_value(at, type, 0))
        return zn_fail(
            err, ZENITH_BAD_FILE,
            "%s: the value \"%.*s\" at byte %zu is of no known type, nested too deep, or "
            "does not end in the file",
            file->base.name, NAME_SHOWN, out->key, inside.at);
    out->type = (zn_gguf_type)type;
    if (type == ZN_GGUF_ARRAY && zn_gguf_take_u32(&inside, &item) &&
        zn_gguf_take_u64(&inside, &count)) {
        out->item = (zn_gguf_type)item;
        out->count = (size_t)count;
    }
    out->data = inside.data + inside.at;
    return copy_text(file, out, err);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const zn_gguf_value *)a)->key, ((const zn_gguf_value *)b)->key);
}

static zenith_status read_values(zn_gguf *file, zn_gguf_cursor *at, size_t count, zn_error *err)
{
    file->values = zn_arena_alloc(&file->base.arena, count * sizeof *file->values);
    if (!file->values) return zn_fail_memory(err, count * sizeof *file->values);
    file->pairs = count;
    for (size_t i = 0; i < count; i++) ZN_TRY(read_value(file, at, &file->values[i], err));
    if (count) qsort(file->values, count, sizeof *file->values, by_key);
    for (size_t i = 1; i < count; i++)
        if (by_key(&file->values[i - 1], &file->values[i]) == 0)
            return zn_fail(err, ZENITH_BAD_FILE, "%s: two values have the key \"%.*s\"",
                           file->base.name, NAME_SHOWN, file->values[i].key);
    return ZENITH_OK;
}

static zenith_status read_alignment(const zn_gguf *file, size_t *out, zn_error *err)
{
    const zn_gguf_value *value = zn_gguf_value_find(file, "general.alignment");
    int64_t alignment = ALIGNMENT;
    if (value && (value->type != ZN_GGUF_U32 || !zn_gguf_as_integer(value, &alignment) ||
                  alignment < 8 || alignment % 8 != 0))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: general.alignment must be a u32 and a multiple of 8", file->base.name);
    *out = (size_t)alignment;
    return ZENITH_OK;
}

// --- tensors; messages here say only what is wrong, read_tensor adds where

static zenith_status find_type(zn_gguf *file, uint32_t number, zn_file_tensor *out, zn_error *err)
{
    out->type = ZN_U8;
    out->blocks = zn_block_type_gguf(number);
    if (out->blocks) out->dtype = out->blocks->name;
    for (size_t i = 0; i < PLAIN_TYPES; i++) {
        if (plain_types[i].number != number) continue;
        out->type = plain_types[i].type;
        out->dtype = plain_types[i].dtype;
        out->supported = true;
    }
    if (out->dtype) return ZENITH_OK;
    char text[32];
    zn_text_format(text, sizeof text, "GGUF_%u", number);
    out->dtype = zn_arena_text(&file->base.arena, text);
    return out->dtype ? ZENITH_OK : zn_fail_memory(err, sizeof text);
}

// Bytes by shape and type; 0, for now, where the type is not known.
static zenith_status measure(zn_file_tensor *tensor, zn_error *err)
{
    size_t rows, columns, elements;
    if (!zn_file_tensor_rows(tensor, &rows, &columns) ||
        !zn_shape_elements(&tensor->shape, &elements))
        return zn_fail(err, ZENITH_BAD_FILE, "the product of its dimensions is too large");
    const size_t group = tensor->blocks ? tensor->blocks->weights : 1;
    const size_t bytes = tensor->blocks      ? tensor->blocks->bytes
                         : tensor->supported ? zn_type_size(tensor->type)
                                             : 0;
    if (columns % group != 0)
        return zn_fail(err, ZENITH_BAD_FILE, "rows of %zu are not whole blocks of %zu, as %s has",
                       columns, group, tensor->dtype);
    if (!zn_mul_size(elements / group, bytes, &tensor->bytes))
        return zn_fail(err, ZENITH_BAD_FILE, "it has more bytes than can be counted");
    return ZENITH_OK;
}

static zenith_status describe(zn_gguf *file, zn_gguf_cursor *at, record *out, zn_error *err)
{
    uint32_t rank, type;
    uint64_t dims[MOST_DIMENSIONS] = {0};
    if (!zn_gguf_take_u32(at, &rank)) return cut_short(file, at, "its rank", err);
    if (rank > MOST_DIMENSIONS)
        return zn_fail(err, ZENITH_BAD_FILE, "it has %u dimensions; at most %d can be", rank,
                       MOST_DIMENSIONS);
    for (uint32_t i = 0; i < rank; i++)
        if (!zn_gguf_take_u64(at, &dims[i])) return cut_short(file, at, "its shape", err);
    if (!zn_gguf_take_u32(at, &type) || !zn_gguf_take_u64(at, &out->offset))
        return cut_short(file, at, "its type or offset", err);
    out->tensor->shape.rank = (int)rank;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] > INT64_MAX)
            return zn_fail(err, ZENITH_BAD_FILE, "the product of its dimensions is too large");
        out->tensor->shape.dim[rank - 1 - i] = (int64_t)dims[i];
    }
    ZN_TRY(find_type(file, type, out->tensor, err));
    return measure(out->tensor, err);
}

// Into the file's tensors and as many records, which are in the order of the file.
static zenith_status read_tensors(zn_gguf *file, zn_gguf_cursor *at, size_t count, record *records,
                                  zn_error *err)
{
    ZN_TRY(zn_tensor_file_reserve(&file->base, count, err));
    file->base.count = count;
    for (size_t i = 0; i < count; i++) {
        zn_file_tensor *tensor = records[i].tensor = &file->base.tensors[i];
        zn_error what = {{0}};
        ZN_TRY(take_name(file, at, "the name of a tensor", &tensor->name, err));
        zenith_status status = describe(file, at, &records[i], &what);
        if (status != ZENITH_OK)
            return zn_fail(err, status, "%s: tensor \"%.*s\": %s", file->base.name, NAME_SHOWN,
                           tensor->name, what.text);
    }
    return ZENITH_OK;
}

static int by_offset(const void *a, const void *b)
{
    const record *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->tensor->bytes < y->tensor->bytes ? -1 : x->tensor->bytes > y->tensor->bytes;
}

// Gives a tensor its bytes, which end where the next one begins or before.
static zenith_status place(const zn_gguf *file, const record *entry, const uint8_t *data,
                           size_t size, uint64_t next, size_t alignment, zn_error *err)
{
    zn_file_tensor *tensor = entry->tensor;
    if (entry->offset % alignment != 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: tensor \"%.*s\" begins at byte %llu of the data, which is no multiple "
                       "of %zu",
                       file->base.name, NAME_SHOWN, tensor->name, (unsigned long long)entry->offset,
                       alignment);
    if (entry->offset > size || tensor->bytes > size - entry->offset)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: tensor \"%.*s\" has %zu bytes from byte %llu of the data on, which has "
                       "only %zu: the file is cut short or broken",
                       file->base.name, NAME_SHOWN, tensor->name, tensor->bytes,
                       (unsigned long long)entry->offset, size);
    if (next > size) next = size; // what is wrong with the next one is said there
    if (tensor->bytes > next - entry->offset)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: tensor \"%.*s\" ends at byte %llu of the data, where another has begun",
                       file->base.name, NAME_SHOWN, tensor->name,
                       (unsigned long long)(entry->offset + tensor->bytes));
    if (!zn_file_tensor_readable(tensor)) tensor->bytes = (size_t)(next - entry->offset);
    tensor->data = data + (size_t)entry->offset;
    return ZENITH_OK;
}

// Gives every tensor its bytes; sorts the records.
static zenith_status place_tensors(const zn_gguf *file, const zn_gguf_cursor *at, record *records,
                                   size_t alignment, zn_error *err)
{
    const size_t count = file->base.count;
    const size_t rest = at->at % alignment, padding = rest ? alignment - rest : 0;
    const size_t left = at->size - at->at, start = padding < left ? padding : left;
    const uint8_t *data = at->data + at->at + start;
    if (count) qsort(records, count, sizeof *records, by_offset);
    for (size_t i = 0; i < count; i++) {
        const uint64_t next = i + 1 < count ? records[i + 1].offset : left - start;
        ZN_TRY(place(file, &records[i], data, left - start, next, alignment, err));
    }
    return ZENITH_OK;
}

static zenith_status sort_tensors(zn_gguf *file, zn_error *err)
{
    zn_tensor_file_sort(&file->base);
    for (size_t i = 1; i < file->base.count; i++) {
        const char *name = file->base.tensors[i].name;
        if (strcmp(file->base.tensors[i - 1].name, name) == 0)
            return zn_fail(err, ZENITH_BAD_FILE, "%s: two tensors have the name \"%.*s\"",
                           file->base.name, NAME_SHOWN, name);
    }
    return ZENITH_OK;
}

// --- the file

bool zn_gguf_sniff(const uint8_t *data, size_t size)
{
    return size >= 4 && memcmp(data, "GGUF", 4) == 0;
}

static zenith_status check_version(const zn_gguf *file, uint32_t version, zn_error *err)
{
    if (version == VERSION) return ZENITH_OK;
    if (version == (uint32_t)VERSION << 24)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s: a GGUF file with its bytes in the order of other machines "
                       "(big-endian); use the little-endian form",
                       file->base.name);
    return zn_fail(err, ZENITH_UNSUPPORTED,
                   "%s: GGUF version %u; version %d is read: convert the file with a current tool",
                   file->base.name, version, VERSION);
}

static zenith_status read_counts(const zn_gguf *file, zn_gguf_cursor *at, uint64_t *tensors,
                                 uint64_t *values, zn_error *err)
{
    if (!zn_gguf_take_u64(at, tensors) || !zn_gguf_take_u64(at, values))
        return cut_short(file, at, "the number of tensors and values", err);
    const size_t left = at->size - at->at;
    if (*tensors > left / LEAST_TENSOR || *values > left / LEAST_VALUE || *tensors > MOST_ENTRIES ||
        *values > MOST_ENTRIES)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: it says that it has %llu tensors and %llu values, which its %zu bytes "
                       "cannot hold (limit: %zu each)",
                       file->base.name, (unsigned long long)*tensors, (unsigned long long)*values,
                       at->size, MOST_ENTRIES);
    return ZENITH_OK;
}

static zenith_status parse(zn_tensor_file *base, const uint8_t *bytes, size_t size, zn_error *err)
{
    zn_gguf *file = (zn_gguf *)base;
    uint32_t version;
    uint64_t tensors = 0, values = 0; // GCC does not see that read_counts fills them
    size_t alignment = ALIGNMENT;
    if (!zn_gguf_sniff(bytes, size))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: not a GGUF file: it does not begin with GGUF",
                       file->base.name);
    zn_gguf_cursor at = {bytes, size, 4};
    if (!zn_gguf_take_u32(&at, &version)) return cut_short(file, &at, "the version", err);
    ZN_TRY(check_version(file, version, err));
    ZN_TRY(read_counts(file, &at, &tensors, &values, err));
    ZN_TRY(read_values(file, &at, (size_t)values, err));
    ZN_TRY(read_alignment(file, &alignment, err));
    record *records = zn_arena_alloc(&file->base.arena, (size_t)tensors * sizeof *records);
    if (!records) return zn_fail_memory(err, (size_t)tensors * sizeof *records);
    ZN_TRY(read_tensors(file, &at, (size_t)tensors, records, err));
    ZN_TRY(place_tensors(file, &at, records, alignment, err));
    return sort_tensors(file, err);
}

static const zn_tensor_format format = {sizeof(zn_gguf), parse};

zenith_status zn_gguf_open_memory(const uint8_t *data, size_t size, const char *name, zn_gguf **out,
                                  zn_error *err)
{
    zn_tensor_file *file = NULL;
    ZN_TRY(zn_tensor_file_open_memory(&format, data, size, name, &file, err));
    *out = (zn_gguf *)file;
    return ZENITH_OK;
}

zenith_status zn_gguf_open(const char *path, zn_gguf **out, zn_error *err)
{
    zn_tensor_file *file = NULL;
    ZN_TRY(zn_tensor_file_open(&format, path, &file, err));
    *out = (zn_gguf *)file;
    return ZENITH_OK;
}

void zn_gguf_forget(const zn_gguf *file)
{
    zn_tensor_file_forget(&file->base);
}

void zn_gguf_free(zn_gguf *file)
{
    zn_tensor_file_free((zn_tensor_file *)file);
}

// --- what an open file answers

size_t zn_gguf_count(const zn_gguf *file)
{
    return file->base.count;
}

const zn_file_tensor *zn_gguf_get(const zn_gguf *file, size_t index)
{
    return &file->base.tensors[index];
}

const zn_file_tensor *zn_gguf_find(const zn_gguf *file, const char *name)
{
    return zn_tensor_file_find(&file->base, name);
}

size_t zn_gguf_value_count(const zn_gguf *file)
{
    return file->pairs;
}

const zn_gguf_value *zn_gguf_value_get(const zn_gguf *file, size_t index)
{
    return &file->values[index];
}

const zn_gguf_value *zn_gguf_value_find(const zn_gguf *file, const char *key)
{
    zn_gguf_value wanted = {.key = key};
    if (file->pairs == 0) return NULL;
    return bsearch(&wanted, file->values, file->pairs, sizeof wanted, by_key);
}
