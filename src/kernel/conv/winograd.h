// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// 3x3 convolution with stride 1 in f32 on channels-last rows, with half of the multiplications of a
// direct one: Winograd's F(4, 3) along the row.
//
// Four neighbouring results of a row are a tile. Per tile, input channel and kernel row:
//
//     v[p] = B d       six values from the six pixels d of a row that the tile's results need
//     u[p] = G w       six values from the three weights of a kernel row, made when packing
//     m[p] = sum over kernel rows and input channels of u[p] * v[p]
//     y    = A m       the four results
//
// so six products do what twelve did. B, G and A come from the points 0, +-3/4, +-3/2 and infinity,
// which lose less to rounding than the usual 0, +-1, +-2. On maps as networks have them (none
// negative, neighbours alike) the error is 0.75 times that of a direct sum of 9 c products one
// after the other, because sums are a third as long; on white noise it is 1.4 times that.
//
// Tiles begin at multiples of four from the left edge, and rows are computed apart from each other,
// so bits depend on neither width, row range, area nor threads. Sums run in the order (kernel row,
// input channel), then bias, residual, ReLU. The scalar version rounds product and sum, the AVX2
// and AVX-512 versions fuse them and agree with each other. A value that is not finite makes its
// whole tile not finite.
#ifndef ZN_KERNEL_WINOGRAD_H
#define ZN_KERNEL_WINOGRAD_H

#include "src/kernel/conv/area.h"
#include "src/kernel/versions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZN_WINOGRAD_BLOCK 16 // channels, in and out, must be multiples of this

enum {
    ZN_WINOGRAD_TILE = 4,   // results
    ZN_WINOGRAD_POINTS = 6, // products
    ZN_WINOGRAD_APART = 16  // floats between tiles in the scratch
};

// Result row r reads the rows r .. r + 2 of src: rows of vertical padding are in src, as zeros.
// Pixels left and right of a row count as zero. Arrays are dense and need no alignment (weights and
// scratch on a cache line are faster).
typedef struct zn_winograd_args {
    const float *src; // [rows + 2, width, channels_in]
    int64_t width, channels_in, channels_out;
    int64_t out_step;      // from a pixel of dst to the next: channels_out or more
    const float *packed;   // by zn_winograd_pack
    const float *bias;     // [channels_out] or NULL
    const float *residual; // [rows, width, out_step] or NULL; may be dst
    float *dst;            // [rows, width, out_step]
    bool relu;             // NaN stays NaN
} zn_winograd_args;

// The largest area that pays: as much as stays in the second-level cache; with many channels, so
// much that their weights, which pass by once an area, are used often enough.
zn_area zn_winograd_largest(int64_t channels_in);

// Bytes of the packed weights, or of the scratch of one area of at most so many rows and columns;
// false where that does not fit.
bool zn_winograd_packed_bytes(int64_t channels_out, int64_t channels_in, size_t *out);
bool zn_winograd_scratch_bytes(int64_t channels_in, const zn_area *area, size_t *out);

// [out, in, 3, 3] -> u as [out / BLOCK, point, kernel row, in, BLOCK], rounded once.
void zn_winograd_pack(const float *dense, int64_t channels_out, int64_t channels_in, float *packed);

// The same for the output channels begin <= c < end alone, both multiples of BLOCK.
static inline zn_winograd_args zn_winograd_channels(zn_winograd_args args, int64_t begin,
                                                    int64_t end)
{
    args.channels_out = end - begin;
    args.packed += begin * 3 * ZN_WINOGRAD_POINTS * args.channels_in;
    if (args.bias) args.bias += begin;
    if (args.residual) args.residual += begin;
    args.dst += begin;
    return args;
}

// Computes the rows of the area; its columns are tiles.
typedef void zn_winograd_fn(const zn_winograd_args *args, const zn_area *area, float *scratch);

zn_winograd_fn zn_winograd_reference; // the baseline's
ZN_VERSIONS(zn_winograd_fn, zn_winograd);

#endif
