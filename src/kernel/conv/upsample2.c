// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Nearest-neighbour doubling: one pass makes a row, its twin is a copy of it.
#include "src/kernel/conv/upsample2.h"

#include <string.h>

// Inlined with constant sizes, so that memcpy becomes a few vector moves instead of a call.
static inline __attribute__((always_inline)) void double_pixels(const unsigned char *restrict src,
                                                                int64_t width, size_t bytes,
                                                                unsigned char *restrict dst)
{
    for (int64_t x = 0; x < width; x++, src += bytes, dst += 2 * bytes) {
        memcpy(dst, src, bytes);
        memcpy(dst + bytes, src, bytes);
    }
}

static void double_row(const unsigned char *src, int64_t width, size_t bytes, unsigned char *dst)
{
    switch (bytes) {
    case 64: // 64 channels of u8
        double_pixels(src, width, 64, dst);
        break;
    case 128: // of bf16
        double_pixels(src, width, 128, dst);
        break;
    case 256: // of f32
        double_pixels(src, width, 256, dst);
        break;
    default:
        double_pixels(src, width, bytes, dst);
        break;
    }
}

void zn_upsample2_rows(const void *src, int64_t width, size_t pixel_bytes, void *dst,
                       int64_t first_row, int64_t rows)
{
    const size_t row_bytes = (size_t)width * pixel_bytes;
    const unsigned char *from = src;
    unsigned char *to = dst;
    for (int64_t j = 0; j < rows; j++, to += 2 * row_bytes) {
        const int second = (int)((first_row + j) & 1); // also of negative rows
        if (second && j > 0)
            memcpy(to, to - 2 * row_bytes, 2 * row_bytes);
        else
            double_row(from, width, pixel_bytes, to);
        if (second) from += row_bytes;
    }
}
