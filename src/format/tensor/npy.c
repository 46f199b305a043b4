// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The header is Python source, but only one shape of it is ever written: a dictionary with three
// known keys. The parser accepts that and nothing more, in any order of the keys and with either
// kind of quotes. Format: NumPy's "A simple file format for NumPy arrays".
#include "src/format/tensor/npy.h"

#include "src/base/memory.h"
#include "src/base/text.h"

#include <string.h>

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { HEADER_ALIGN = 64, HEADER_MAX = 4096 }; // our own headers have 128 bytes at most

static const struct {
    const char *descr;
    zn_type type;
} types[] = {{"<f4", ZN_F32}, {"<f2", ZN_F16}, {"<f8", ZN_F64}, {"|u1", ZN_U8}, {"|i1", ZN_S8},
             {"<u1", ZN_U8},  {"<i1", ZN_S8},  {"<i4", ZN_S32}, {"<i8", ZN_S64}};
enum { TYPES = sizeof types / sizeof *types };

// --- the dictionary

typedef struct cursor {
    const char *at, *end;
    const char *name; // of the file
    zn_error *err;
} cursor;

typedef struct header {
    bool has_descr, has_order, has_shape;
    char descr[16];
    bool fortran;
    zn_shape shape;
} header;

static zenith_status broken(const cursor *text, const char *what)
{
    return zn_fail(text->err, ZENITH_BAD_FILE, "%s: broken npy header: %s", text->name, what);
}

static void skip_space(cursor *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t' || *text->at == '\n'))
        text->at++;
}

// Steps over `c`, with spaces before it, if it is next.
static bool take(cursor *text, char c)
{
    skip_space(text);
    if (text->at == text->end || *text->at != c) return false;
    text->at++;
    return true;
}

static bool take_word(cursor *text, const char *word)
{
    skip_space(text);
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

static zenith_status read_string(cursor *text, char *dst, size_t size)
{
    skip_space(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return broken(text, "a string is missing");
    char quote = *text->at++;
    size_t length = 0;
    while (text->at < text->end && *text->at != quote) {
        char c = *text->at++;
        if (c == '\\' || c < ' ' || length + 1 >= size) return broken(text, "an odd string");
        dst[length++] = c;
    }
    if (!take(text, quote)) return broken(text, "a string does not end");
    dst[length] = '\0';
    return ZENITH_OK;
}

static zenith_status read_dimension(cursor *text, int64_t *out)
{
    int64_t value = 0;
    const char *first = text->at;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
        if (value > (INT64_MAX - 9) / 10) return broken(text, "a dimension is too large");
        value = value * 10 + (*text->at++ - '0');
    }
    if (text->at == first) return broken(text, "a dimension is not a number");
    *out = value;
    return ZENITH_OK;
}

// "()", "(3,)", "(3, 4)", "(3, 4,)"
static zenith_status read_shape(cursor *text, zn_shape *out)
{
    *out = (zn_shape){0};
    if (!take(text, '(')) return broken(text, "the shape is not a tuple");
    bool comma = true;
    while (!take(text, ')')) {
        if (!comma) return broken(text, "a comma is missing in the shape");
        if (out->rank == ZN_MAX_RANK)
            return zn_fail(text->err, ZENITH_UNSUPPORTED, "%s: an array of more than %d dimensions",
                           text->name, ZN_MAX_RANK);
        ZN_TRY(read_dimension(text, &out->dim[out->rank]));
        out->rank++;
        comma = take(text, ',');
    }
    if (out->rank == 1 && !comma) return broken(text, "the shape is not a tuple"); // "(3)"
    return ZENITH_OK;
}

static zenith_status read_member(cursor *text, header *out)
{
    char key[16];
    ZN_TRY(read_string(text, key, sizeof key));
    if (!take(text, ':')) return broken(text, "a colon is missing");
    if (strcmp(key, "descr") == 0 && !out->has_descr) {
        out->has_descr = true;
        if (take(text, '['))
            return zn_fail(text->err, ZENITH_UNSUPPORTED, "%s: arrays of records are not supported",
                           text->name);
        return read_string(text, out->descr, sizeof out->descr);
    }
    if (strcmp(key, "fortran_order") == 0 && !out->has_order) {
        out->has_order = true;
        out->fortran = take_word(text, "True");
        if (!out->fortran && !take_word(text, "False")) return broken(text, "True or False?");
        return ZENITH_OK;
    }
    if (strcmp(key, "shape") == 0 && !out->has_shape) {
        out->has_shape = true;
        return read_shape(text, &out->shape);
    }
    return broken(text, "a key is unknown or occurs twice");
}

static zenith_status read_dictionary(cursor *text, header *out)
{
    if (!take(text, '{')) return broken(text, "it is not a dictionary");
    bool comma = true;
    while (!take(text, '}')) {
        if (!comma) return broken(text, "a comma is missing");
        ZN_TRY(read_member(text, out));
        comma = take(text, ',');
    }
    skip_space(text);
    if (text->at != text->end) return broken(text, "something follows the dictionary");
    if (!out->has_descr || !out->has_order || !out->has_shape)
        return broken(text, "descr, fortran_order or shape is missing");
    return ZENITH_OK;
}

// --- the file

bool zn_npy_is(const uint8_t *data, size_t size)
{
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

static zenith_status find_type(const header *head, const char *name, zn_type *out, zn_error *err)
{
    if (head->fortran)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s: the array is in Fortran order; save numpy.ascontiguousarray(array)",
                       name);
    for (size_t i = 0; i < TYPES; i++) {
        if (strcmp(types[i].descr, head->descr) == 0) {
            *out = types[i].type;
            return ZENITH_OK;
        }
    }
    return zn_fail(err, ZENITH_UNSUPPORTED,
                   "%s: an array of type '%s' is not supported; save array.astype('<f4')", name,
                   head->descr);
}

// Finds where the header lies: its offset and length.
static zenith_status find_header(const uint8_t *data, size_t size, const char *name, size_t *offset,
                                 size_t *length, zn_error *err)
{
    if (!zn_npy_is(data, size)) return zn_fail(err, ZENITH_BAD_FILE, "%s: not an npy file", name);
    if (size < 12)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: the npy file ends in its header", name);
    int major = data[6], minor = data[7];
    if (major < 1 || major > 3 || minor != 0)
        return zn_fail(err, ZENITH_UNSUPPORTED, "%s: npy version %d.%d is not known", name, major,
                       minor);
    *offset = major == 1 ? 10 : 12;
    *length = (size_t)data[8] | (size_t)data[9] << 8;
    if (major > 1) *length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (*length > size - *offset)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: the npy file ends in its header", name);
    if (*length > HEADER_MAX)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: an npy header of %zu bytes; at most %d are read",
                       name, *length, HEADER_MAX);
    return ZENITH_OK;
}

zenith_status zn_npy_parse(const uint8_t *data, size_t size, const char *name, zn_npy *out,
                           zn_error *err)
{
    size_t offset = 0, length = 0, elements, bytes;
    zn_type type = ZN_F32;
    ZN_TRY(find_header(data, size, name, &offset, &length, err));
    const char *text = (const char *)data + offset;
    cursor at = {.at = text, .end = text + length, .name = name, .err = err};
    header head = {0};
    ZN_TRY(read_dictionary(&at, &head));
    ZN_TRY(find_type(&head, name, &type, err));
    size_t have = size - offset - length;
    if (!zn_shape_elements(&head.shape, &elements) ||
        !zn_mul_size(elements, zn_type_size(type), &bytes) || bytes != have)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "%s: the data has %zu bytes, which is not what shape and type of the npy "
                       "header say",
                       name, have);
    *out = (zn_npy){type, head.shape, data + offset + length, bytes};
    return ZENITH_OK;
}

// --- writing

static size_t shape_text(const zn_shape *shape, char *dst, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < shape->rank; i++)
        at += zn_text_format(dst + at, size - at, i ? " %lld," : "%lld,", (long long)shape->dim[i]);
    if (shape->rank != 1 && at > 0) at--; // "(3,)" but "(3, 4)", as NumPy writes it
    dst[at] = '\0';
    return at;
}

zenith_status zn_npy_make_header(zn_type type, const zn_shape *shape, uint8_t dst[ZN_NPY_HEADER],
                                 size_t *size, zn_error *err)
{
    size_t elements;
    const char *descr = type == ZN_F32 ? "<f4" : type == ZN_F16 ? "<f2" : "|u1";
    if ((type != ZN_F32 && type != ZN_F16 && type != ZN_U8) || !zn_shape_elements(shape, &elements))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "an npy file is written from f32, f16 or u8, in a valid shape; this is %s",
                       zn_type_name(type));
    char dims[ZN_MAX_RANK * 24], text[HEADER_ALIGN * 4];
    shape_text(shape, dims, sizeof dims);
    uint8_t start[10] = {[6] = 1};
    memcpy(start, magic, sizeof magic);
    size_t length = zn_text_format(
        text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims);
    size_t whole = zn_round_up(sizeof start + length + 1, HEADER_ALIGN);
    size_t padded = whole - sizeof start; // the text, spaces and the newline
    memset(text + length, ' ', padded - length);
    text[padded - 1] = '\n';
    start[8] = (uint8_t)(padded & 0xff);
    start[9] = (uint8_t)(padded >> 8);
    memcpy(dst, start, sizeof start);
    memcpy(dst + sizeof start, text, padded);
    *size = whole;
    return ZENITH_OK;
}

zenith_status zn_npy_write_header(zn_writer *writer, zn_type type, const zn_shape *shape,
                                  zn_error *err)
{
    uint8_t made[ZN_NPY_HEADER];
    size_t size = 0;
    ZN_TRY(zn_npy_make_header(type, shape, made, &size, err));
    return zn_writer_write(writer, made, size, err);
}

zenith_status zn_npy_write(zn_writer *writer, zn_type type, const zn_shape *shape, const void *data,
                           zn_error *err)
{
    ZN_TRY(zn_npy_write_header(writer, type, shape, err));
    zn_desc desc = zn_desc_make(type, *shape);
    size_t bytes;
    if (!zn_desc_bytes(&desc, &bytes))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "an array too large for memory");
    return bytes ? zn_writer_write(writer, data, bytes, err) : ZENITH_OK;
}
