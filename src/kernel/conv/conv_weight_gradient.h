// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a convolution's weights and bias, from its input and the gradient of its output,
// both channels-last:
//
//     dw[o][i][ky][kx] = sum over rows r and columns x of
//                        dy[r][x][o] * src[r * stride + ky][x * stride + kx - pad_left][i]
//     db[o]            = sum over r and x of dy[r][x][o]
//
// Sums are f32, in an order that is the version's own. One call does the whole map on one thread,
// for all weights or for some: threads share the weights, never a sum, so that bits do not depend
// on them.
#ifndef ZN_KERNEL_CONV_WEIGHT_GRADIENT_H
#define ZN_KERNEL_CONV_WEIGHT_GRADIENT_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

// Rows of vertical padding are in src, as zeros. Pixels left and right of a row count as zero, as
// many as width_out needs. Nothing overlaps.
typedef struct zn_conv_weight_gradient_args {
    zn_type type;    // of src and dy: f32 or bf16
    const void *src; // [(rows - 1) * stride + kernel_h, width_in, channels_in]
    const void *dy;  // [rows, width_out, channels_out]
    int64_t rows, width_in, channels_in, width_out, channels_out;
    int kernel_h, kernel_w, stride, pad_left;
    bool add;  // to what dw and db hold; otherwise that is not read
    float *dw; // [channels_out, channels_in * kernel_h * kernel_w]
    float *db; // [channels_out], or NULL
    // Which weights: number `part` of `parts` shares, some of which may be empty. parts 0: all. db
    // is in the first.
    int part, parts;
} zn_conv_weight_gradient_args;

// scratch: zn_conv_weight_gradient_scratch bytes on a cache line, for this call alone.
typedef void zn_conv_weight_gradient_fn(const zn_conv_weight_gradient_args *args, void *scratch);
size_t zn_conv_weight_gradient_scratch(const zn_conv_weight_gradient_args *args);

// The specification, for tests: plain loops, sums in double.
zn_conv_weight_gradient_fn zn_conv_weight_gradient_reference;
ZN_VERSIONS(zn_conv_weight_gradient_fn, zn_conv_weight_gradient);
zn_conv_weight_gradient_fn zn_conv_weight_gradient_amx; // bf16 only

#endif
