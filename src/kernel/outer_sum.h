// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of outer products of pixels: what the gradient of a convolution's weights is made of.
#ifndef ZN_KERNEL_OUTER_SUM_H
#define ZN_KERNEL_OUTER_SUM_H

#include <stddef.h>
#include <stdint.h>

// sums[o * in + i] += sum over p of a[p * a_step + o] * b[p * b_step + i], for o < out and i < in.
// The products of one call are summed in order before they are added.
void zn_outer_sum_f32(const float *a, int64_t a_step, int64_t out, const float *b, int64_t b_step,
                      int64_t in, int64_t pixels, float *sums);

#endif
