// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tar archives made up by tests, member by member.
#ifndef ZN_TESTS_FORMAT_CRAFT_TAR_H
#define ZN_TESTS_FORMAT_CRAFT_TAR_H

#include "tests/testing.h"

#include <string.h>

enum { TAR_BLOCK = 512, TAR_ROOM = 1 << 18 };

typedef struct crafted_tar {
    uint8_t bytes[TAR_ROOM];
    size_t size;
    uint8_t *header; // of the last member, for changes; then tar_sign
} crafted_tar;

// Octal digits up to a closing zero.
static inline void tar_octal(uint8_t *field, int size, size_t value)
{
    field[--size] = 0;
    for (; size-- > 0; value /= 8) field[size] = (uint8_t)('0' + value % 8);
}

static inline void tar_sign(crafted_tar *tar)
{
    size_t sum = 0;
    memset(tar->header + 148, ' ', 8);
    for (int i = 0; i < TAR_BLOCK; i++) sum += tar->header[i];
    tar_octal(tar->header + 148, 7, sum);
}

static inline void tar_add(crafted_tar *tar, char type, const char *name, const void *data,
                           size_t size)
{
    size_t padded = (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    assert_true(tar->size + TAR_BLOCK + padded <= TAR_ROOM);
    tar->header = tar->bytes + tar->size;
    memset(tar->header, 0, TAR_BLOCK + padded);
    size_t length = strlen(name);
    memcpy(tar->header, name, length < 100 ? length : 100);
    tar_octal(tar->header + 100, 8, 0644);
    tar_octal(tar->header + 124, 12, size);
    tar->header[156] = (uint8_t)type;
    memcpy(tar->header + 257,
           "ustar\0"
           "00",
           8);
    tar_sign(tar);
    if (size) memcpy(tar->header + TAR_BLOCK, data, size);
    tar->size += TAR_BLOCK + padded;
}

static inline void tar_end(crafted_tar *tar)
{
    assert_true(tar->size + 2 * TAR_BLOCK <= TAR_ROOM);
    memset(tar->bytes + tar->size, 0, 2 * TAR_BLOCK);
    tar->size += 2 * TAR_BLOCK;
}

#endif
