// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise 3x3 convolution of channels-last rows: each channel by itself, with its own nine
// weights.
//
//     dst[x, c] = sum over i, j of src[i][x + j - 1, c] * weights[3 i + j, c]
//                 (+ added, then relu)
//
// summed in f32 in the order of i, then j; pixels left and right of a row are left out. So bits do
// not depend on how rows are handed out. The scalar version rounds product and sum, AVX2 and
// AVX-512 fuse them and agree with each other where the channels are whole vectors.
#ifndef ZN_KERNEL_DEPTHWISE_H
#define ZN_KERNEL_DEPTHWISE_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

enum { ZN_DEPTHWISE_TAPS = 9 };

// One row of the result, or a piece of it. Maps are f32 or bf16, one type for src and added.
typedef struct zn_depthwise_args {
    zn_type src_type, dst_type;
    const void *src[3];   // rows above, of and below the result's, from its first pixel on
    const void *added;    // [width, channels] or NULL; may be dst where the types are one
    const float *weights; // [9, channels]
    void *dst;            // [width, channels]; not src
    int64_t width, channels;
    bool
        inside[2]; // there are pixels left of the first, right of the last; else the row ends there
    bool relu;
} zn_depthwise_args;
typedef void zn_depthwise_fn(const zn_depthwise_args *args);

// The gradient of the weights from one row, summed in f32: callers add up rows in double.
typedef struct zn_depthwise_sums_args {
    zn_type src_type, dy_type;
    const void *src, *dy; // [3, width, channels] and [width, channels]
    float *sums;          // [9, channels], written
    int64_t width, channels;
} zn_depthwise_sums_args;
typedef void zn_depthwise_sums_fn(const zn_depthwise_sums_args *args);

ZN_VERSIONS(zn_depthwise_fn, zn_depthwise);
ZN_VERSIONS(zn_depthwise_sums_fn, zn_depthwise_sums);

#endif
