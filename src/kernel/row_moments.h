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

#include "src/base/cpu.h"
#include "src/tensor/type.h"

// row: [width, channels] of f32, bf16, f16, u8 or s8; groups divides channels. out: [groups][2],
// the sum and the sum of squares, overwritten.
typedef void zn_row_moments_fn(zn_type type, float scale, const void *row, int64_t width,
                               int64_t channels, int groups, double *out);

zn_row_moments_fn *zn_row_moments_pick(zn_isa isa); // never NULL

// The versions of one instruction set; row_moments.c lists them.
zn_row_moments_fn zn_row_moments_scalar;
zn_row_moments_fn zn_row_moments_avx2;
zn_row_moments_fn zn_row_moments_avx512;

#endif
