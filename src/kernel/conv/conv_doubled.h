// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// 3x3 convolution with stride 1 in f32 of a map whose height and width were doubled by repeating
// each pixel, from the small map: a quarter of the multiplications, and the doubled map is never
// there.
//
// Along one axis, with weights w0 w1 w2 and pixels d, the two results in the place of pixel x are
//
//     even: w0 d[x-1] + (w1 + w2) d[x] = S d[x] + L e[x]        e[x] = d[x] - d[x-1]
//     odd:  (w0 + w1) d[x] + w2 d[x+1] = S d[x] + R e[x+1]      S = w0 + w1 + w2, L = -w0, R = w2
//
// so three products do what six did; with both axes, nine do what 36 did. S, L and R are made in
// double when packing, and rounded once. Rounding errs no more than in a direct sum, which has nine
// times as many products.
//
// Each result is a sum of four sums over input channels, each in the order of channels, added in
// the same order wherever it lies, then the bias: bits depend on neither width, row range, area nor
// threads. The scalar version rounds product and sum, the AVX2 and AVX-512 versions fuse them and
// agree with each other. A value that is not finite may spoil results beside those that need it.
#ifndef ZN_KERNEL_CONV_DOUBLED_H
#define ZN_KERNEL_CONV_DOUBLED_H

#include "src/kernel/conv/area.h"
#include "src/kernel/versions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ZN_DOUBLED_BLOCK = 16, // channels, in and out, must be multiples of this
    ZN_DOUBLED_APART = 16  // floats between pixels in the scratch
};

// Rows [row, row + rows) of the result. src begins with row (row - 1) / 2 of the small map and ends
// with row (row + rows) / 2, both rounded down: rows of vertical padding are in src, as zeros.
// Pixels left and right of a row count as zero. Arrays are dense and need no alignment (weights and
// scratch on a cache line are faster).
typedef struct zn_doubled_args {
    const float *src; // [.., width, channels_in]
    int64_t width, channels_in, channels_out;
    const float *packed; // by zn_doubled_pack
    const float *bias;   // [channels_out] or NULL
    float *dst;          // [rows, 2 width, channels_out]
    int64_t row, rows;
} zn_doubled_args;

static inline int64_t zn_doubled_half(int64_t row) // rounded down, also for negative rows
{
    return (row - (row & 1)) / 2;
}

// How many rows of the small map the result's rows lie in: the rows that areas are made of.
static inline int64_t zn_doubled_rows(int64_t row, int64_t rows)
{
    return zn_doubled_half(row + rows - 1) - zn_doubled_half(row) + 1;
}

// The largest area that pays, as of zn_winograd_largest.
zn_area zn_doubled_largest(int64_t channels_in);

// Bytes of the packed weights, or of the scratch of one area of at most so many rows and columns;
// false where that does not fit.
bool zn_doubled_packed_bytes(int64_t channels_out, int64_t channels_in, size_t *out);
bool zn_doubled_scratch_bytes(int64_t channels_in, const zn_area *area, size_t *out);

// [out, in, 3, 3] -> [out / BLOCK, vertical S L R, horizontal S L R, in, BLOCK].
void zn_doubled_pack(const float *dense, int64_t channels_out, int64_t channels_in, float *packed);

// Computes the results in the place of the small map's rows and columns in the area; row 0 is the
// one in which the result's first row lies.
typedef void zn_doubled_fn(const zn_doubled_args *args, const zn_area *area, float *scratch);

zn_doubled_fn zn_doubled_reference; // the baseline's
ZN_VERSIONS(zn_doubled_fn, zn_doubled);

#endif
