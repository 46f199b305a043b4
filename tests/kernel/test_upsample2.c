// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Doubled rows against their definition, from odd and negative first rows too.
#include "src/kernel/conv/upsample2.h"
#include "tests/kernel/fenced.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int64_t half(int64_t row) // floor(row / 2)
{
    return row >= 0 ? row / 2 : -((1 - row) / 2);
}

static void check(int64_t width, size_t pixel, int64_t first_row, int64_t rows, size_t shift)
{
    zn_random random = {.seed = (uint64_t)(width * 1000 + first_row + 100)};
    const int64_t base = half(first_row);
    const size_t rows_in = rows ? (size_t)(half(first_row + rows - 1) - base + 1) : 0;
    const size_t row_bytes = (size_t)width * pixel;
    fenced src = fenced_make(rows_in * row_bytes, shift);
    fenced dst = fenced_make((size_t)rows * 2 * row_bytes, shift);
    fill_bytes(src.data, src.bytes, &random);
    zn_upsample2_rows(src.data, width, pixel, dst.data, first_row, rows);
    for (int64_t j = 0; j < rows; j++) {
        const size_t from_row = (size_t)(half(first_row + j) - base);
        for (size_t x = 0; x < 2 * (size_t)width; x++) {
            const unsigned char *to = (unsigned char *)dst.data + (size_t)j * 2 * row_bytes;
            const unsigned char *from = (unsigned char *)src.data + from_row * row_bytes;
            if (memcmp(to + x * pixel, from + x / 2 * pixel, pixel)) {
                print_error("width %lld, pixel %zu, first row %lld: row %lld, x %zu\n",
                            (long long)width, pixel, (long long)first_row, (long long)j, x);
                fail();
            }
        }
    }
    assert_true(fenced_intact(&src) && fenced_intact(&dst));
    fenced_free(&src);
    fenced_free(&dst);
}

ZN_TEST(rows_are_doubled)
{
    static const size_t pixels[] = {1, 3, 12, 16, 63, 64, 65, 128, 256, 1000};
    static const int64_t widths[] = {1, 2, 7, 33};
    for (size_t p = 0; p < COUNT(pixels); p++) {
        for (size_t w = 0; w < COUNT(widths); w++) {
            for (int64_t first = -5; first <= 4; first++) {
                check(widths[w], pixels[p], first, first + 6, (size_t)(first + 5) % 8);
                check(widths[w], pixels[p], first, 1, 0);
            }
        }
    }
}

static void bench(void)
{
    enum { WIDTH = 256, ROWS = 64 };
    static const size_t pixels[] = {12, 64, 128, 256};
    static unsigned char src[WIDTH * 256 * ROWS / 2], dst[2 * WIDTH * 256 * ROWS];
    for (size_t p = 0; p < COUNT(pixels); p++) {
        bench_clock clock = {0};
        while (bench_again(&clock)) zn_upsample2_rows(src, WIDTH, pixels[p], dst, 0, ROWS);
        bench_result(&clock, "only", 2.0 * WIDTH * ROWS * (double)pixels[p], "GB/s written",
                     "pixels of %zu bytes", pixels[p]);
    }
}

KERNEL_GROUP(upsample2, bench)
