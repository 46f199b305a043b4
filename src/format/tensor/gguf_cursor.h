// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// For the two files that read GGUF: bytes from front to back, with every step checked against the
// end.
#ifndef ZN_FORMAT_TENSOR_GGUF_CURSOR_H
#define ZN_FORMAT_TENSOR_GGUF_CURSOR_H

#include "src/format/tensor/gguf.h"

typedef struct zn_gguf_cursor {
    const uint8_t *data;
    size_t size, at;
} zn_gguf_cursor;

// Each takes what it says and moves on; false, without moving, where the file ends before.
static inline bool zn_gguf_take(zn_gguf_cursor *cursor, size_t bytes, const uint8_t **out)
{
    if (bytes > cursor->size - cursor->at) return false;
    *out = cursor->data + cursor->at;
    cursor->at += bytes;
    return true;
}

static inline bool zn_gguf_take_u32(zn_gguf_cursor *cursor, uint32_t *out)
{
    const uint8_t *src;
    if (!zn_gguf_take(cursor, 4, &src)) return false;
    *out = (uint32_t)src[0] | (uint32_t)src[1] << 8 | (uint32_t)src[2] << 16 |
           (uint32_t)src[3] << 24;
    return true;
}

static inline bool zn_gguf_take_u64(zn_gguf_cursor *cursor, uint64_t *out)
{
    uint32_t low, high;
    if (cursor->size - cursor->at < 8) return false;
    if (!zn_gguf_take_u32(cursor, &low) || !zn_gguf_take_u32(cursor, &high)) return false;
    *out = (uint64_t)high << 32 | low;
    return true;
}

static inline bool zn_gguf_take_text(zn_gguf_cursor *cursor, zn_gguf_text *out)
{
    uint64_t length;
    const uint8_t *src;
    const size_t start = cursor->at;
    if (!zn_gguf_take_u64(cursor, &length)) return false;
    if (length > SIZE_MAX || !zn_gguf_take(cursor, (size_t)length, &src)) {
        cursor->at = start;
        return false;
    }
    *out = (zn_gguf_text){.data = (const char *)src, .length = (size_t)length};
    return true;
}

// Bytes of a number of this type; 0 for texts and arrays, whose size they say themselves.
static inline size_t zn_gguf_type_bytes(zn_gguf_type type)
{
    static const uint8_t bytes[ZN_GGUF_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return bytes[type];
}

#endif
