// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// GGUF files put together byte by byte.
#ifndef ZN_TESTS_FORMAT_CRAFT_GGUF_H
#define ZN_TESTS_FORMAT_CRAFT_GGUF_H

#include "tests/format/crafted.h"

static inline void put_number(crafted *file, uint64_t value, int bytes)
{
    assert_true(file->size + (size_t)bytes <= sizeof file->bytes);
    for (int i = 0; i < bytes; i++) file->bytes[file->size++] = (uint8_t)(value >> (8 * i));
}

static inline void put_bytes(crafted *file, const void *data, size_t size)
{
    assert_true(file->size + size <= sizeof file->bytes);
    memcpy(file->bytes + file->size, data, size);
    file->size += size;
}

static inline void put_text(crafted *file, const char *text)
{
    put_number(file, strlen(text), 8);
    put_bytes(file, text, strlen(text));
}

static inline crafted craft_gguf(uint64_t tensors, uint64_t values)
{
    crafted file = {.size = 0};
    put_bytes(&file, "GGUF", 4);
    put_number(&file, 3, 4);
    put_number(&file, tensors, 8);
    put_number(&file, values, 8);
    return file;
}

// The key and the type of a value, whose own bytes must follow.
static inline void put_value(crafted *file, const char *key, uint32_t type)
{
    put_text(file, key);
    put_number(file, type, 4);
}

static inline void put_tensor(crafted *file, const char *name, uint32_t rank, const uint64_t *dims,
                              uint32_t type, uint64_t offset)
{
    put_text(file, name);
    put_number(file, rank, 4);
    for (uint32_t i = 0; i < rank && i < 4; i++) put_number(file, dims[i], 8);
    put_number(file, type, 4);
    put_number(file, offset, 8);
}

// Zeros up to a multiple of `alignment`, then `size` bytes 0, 1, 2, ...
static inline void put_data(crafted *file, size_t alignment, size_t size)
{
    while (file->size % alignment) put_number(file, 0, 1);
    for (size_t i = 0; i < size; i++) put_number(file, i & 255, 1);
}

#endif
