// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the values of an open GGUF file are. The reader has checked that they lie inside the file.
#include "src/format/tensor/gguf.h"

#include "src/format/tensor/gguf_cursor.h"

#include <string.h>

static uint64_t load_bits(const uint8_t *src, size_t bytes)
{
    uint64_t bits = 0;
    for (size_t i = bytes; i-- > 0;) bits = bits << 8 | src[i];
    return bits;
}

static bool is_signed(zn_gguf_type type)
{
    return type == ZN_GGUF_I8 || type == ZN_GGUF_I16 || type == ZN_GGUF_I32 || type == ZN_GGUF_I64;
}

static bool is_integer(zn_gguf_type type)
{
    return is_signed(type) || type == ZN_GGUF_U8 || type == ZN_GGUF_U16 || type == ZN_GGUF_U32 ||
           type == ZN_GGUF_U64 || type == ZN_GGUF_BOOL;
}

static bool load_integer(zn_gguf_type type, const uint8_t *src, int64_t *out)
{
    if (!is_integer(type)) return false;
    const size_t bytes = zn_gguf_type_bytes(type);
    uint64_t bits = load_bits(src, bytes);
    if (is_signed(type)) {
        const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
        bits = (bits ^ sign) - sign;
    } else if (bits > INT64_MAX) {
        return false;
    }
    memcpy(out, &bits, sizeof *out);
    if (type == ZN_GGUF_BOOL) *out = *out != 0;
    return true;
}

static bool load_number(zn_gguf_type type, const uint8_t *src, double *out)
{
    int64_t integer;
    float single;
    if (type == ZN_GGUF_F64) {
        memcpy(out, src, sizeof *out);
    } else if (type == ZN_GGUF_F32) {
        memcpy(&single, src, sizeof single);
        *out = (double)single;
    } else if (type == ZN_GGUF_U64) {
        *out = (double)load_bits(src, 8);
    } else if (load_integer(type, src, &integer)) {
        *out = (double)integer;
    } else {
        return false;
    }
    return true;
}

static zn_gguf_text load_text(const uint8_t *src)
{
    return (zn_gguf_text){.data = (const char *)src + 8, .length = (size_t)load_bits(src, 8)};
}

bool zn_gguf_as_integer(const zn_gguf_value *value, int64_t *out)
{
    return value && load_integer(value->type, value->data, out);
}

bool zn_gguf_as_number(const zn_gguf_value *value, double *out)
{
    return value && value->type != ZN_GGUF_BOOL && load_number(value->type, value->data, out);
}

bool zn_gguf_as_text(const zn_gguf_value *value, zn_gguf_text *out)
{
    if (!value || value->type != ZN_GGUF_TEXT) return false;
    *out = load_text(value->data);
    return true;
}

zn_gguf_items zn_gguf_items_of(const zn_gguf_value *value)
{
    if (!value || value->type != ZN_GGUF_ARRAY) return (zn_gguf_items){0};
    return (zn_gguf_items){.type = value->item, .left = value->count, .at = value->data};
}

static void step(zn_gguf_items *items, size_t bytes)
{
    items->at += bytes;
    items->left--;
}

bool zn_gguf_next_text(zn_gguf_items *items, zn_gguf_text *out)
{
    if (items->left == 0 || items->type != ZN_GGUF_TEXT) return false;
    *out = load_text(items->at);
    step(items, 8 + out->length);
    return true;
}

bool zn_gguf_next_integer(zn_gguf_items *items, int64_t *out)
{
    if (items->left == 0 || !load_integer(items->type, items->at, out)) return false;
    step(items, zn_gguf_type_bytes(items->type));
    return true;
}

bool zn_gguf_next_number(zn_gguf_items *items, double *out)
{
    if (items->left == 0 || !load_number(items->type, items->at, out)) return false;
    step(items, zn_gguf_type_bytes(items->type));
    return true;
}
