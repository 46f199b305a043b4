// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums and sums of squares of one channels-last row, per group of channels: the statistics of group
// norm, taken row by row so that bands of any height give the same bits.
//
// The tree is fixed. For each channel, in double and over the pixels in order,
//     value = (float)stored * scale (rounded to f32),  sum += value,  square += value * value;
// then a group adds up its channels in order, from 0. A square of an f32 is exact in double, so
// fusing changes nothing and every version gives the same bits.
#ifndef ZN_KERNEL_ROW_MOMENTS_H
#define ZN_KERNEL_ROW_MOMENTS_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

// row: [width, channels] of f32, bf16, f16, u8 or s8; groups divides channels. out: [groups][2],
// the sum and the sum of squares, overwritten.
typedef void zn_row_moments_fn(zn_type type, float scale, const void *row, int64_t width,
                               int64_t channels, int groups, double *out);

zn_row_moments_fn zn_row_moments_reference; // the baseline's
ZN_VERSIONS(zn_row_moments_fn, zn_row_moments);

#endif
