// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the versions of conv_doubled find pixels and put results.
#ifndef ZN_KERNEL_CONV_DOUBLED_ROWS_H
#define ZN_KERNEL_CONV_DOUBLED_ROWS_H

#include "src/kernel/conv_doubled.h"

// How a weight or a difference is made along one axis.
enum { AXIS_S, AXIS_L, AXIS_R, AXIS_KINDS, DOUBLED_POINTS = AXIS_KINDS * AXIS_KINDS };

// The pixel of row `row` (0: the one in which the result's first row lies) and column x of the small
// map; NULL where it counts as zero, or is above or below what the call has, so that no result needs
// it.
static inline const float *doubled_pixel(const zn_doubled_args *a, int64_t row, int64_t x)
{
    const int64_t first = zn_doubled_half(a->row - 1), last = zn_doubled_half(a->row + a->rows);
    const int64_t at = zn_doubled_half(a->row) + row;
    if (at < first || at > last || x < 0 || x >= a->width) return NULL;
    return a->src + ((at - first) * a->width + x) * a->channels_in;
}

// The pixel of the result in the place of the small map's (row, x), `down` below and `right` beside
// the first of the four; NULL where its row is not asked for.
static inline float *doubled_result(const zn_doubled_args *a, int64_t row, int64_t x, int down,
                                    int right)
{
    const int64_t at = 2 * (zn_doubled_half(a->row) + row) + down - a->row;
    if (at < 0 || at >= a->rows) return NULL;
    return a->dst + (at * 2 * a->width + 2 * x + right) * a->channels_out;
}

#endif
