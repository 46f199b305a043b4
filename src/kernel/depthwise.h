// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise 3x3 convolution of channels-last rows: each channel by itself, with its own nine weights.
//
//     dst[y, x, c] = sum over i, j of src[y + i, x + j - 1, c] * weights[3 i + j, c]   (+ added, then relu)
//
// summed in f32 in the order of i, then j; pixels left and right of a row are left out. So bits do not
// depend on rows per call or threads. The scalar version rounds product and sum, AVX2 and AVX-512 fuse
// them and agree with each other where the channels are whole vectors.
#ifndef ZN_KERNEL_DEPTHWISE_H
#define ZN_KERNEL_DEPTHWISE_H

#include "src/base/cpu.h"
#include "src/tensor/type.h"

enum { ZN_DEPTHWISE_TAPS = 9 };

// Maps are f32 or bf16, dense, one type for src and added. Row y of dst reads the rows y, y + 1 and
// y + 2 of src: rows of vertical padding are in src, as zeros.
typedef struct zn_depthwise_args {
    zn_type src_type, dst_type;
    const void *src;      // [rows + 2, width, channels]
    const void *added;    // [rows, width, channels] or NULL; may be dst where the types are one
    const float *weights; // [9, channels]
    void *dst;            // [rows, width, channels]; not src
    int64_t width, channels;
    int64_t src_stride, dst_stride; // elements from row to row; 0: width * channels
    bool relu;
} zn_depthwise_args;

// Computes the rows [begin, end) of dst.
typedef void zn_depthwise_fn(const zn_depthwise_args *args, int64_t begin, int64_t end);
zn_depthwise_fn *zn_depthwise_pick(zn_isa isa); // never NULL

// The gradient of the weights: adds what `rows` rows of dy give to sums [9, channels], which may be summed
// in f32 over one call: callers pass one row and add up in double.
typedef struct zn_depthwise_sums_args {
    zn_type src_type, dy_type;
    const void *src, *dy; // [3, width, channels] and [1, width, channels]
    float *sums;          // [9, channels], written
    int64_t width, channels;
} zn_depthwise_sums_args;
typedef void zn_depthwise_sums_fn(const zn_depthwise_sums_args *args);
zn_depthwise_sums_fn *zn_depthwise_sums_pick(zn_isa isa); // never NULL

// The versions of one instruction set; depthwise.c lists them.
zn_depthwise_fn zn_depthwise_avx2, zn_depthwise_avx512;
zn_depthwise_sums_fn zn_depthwise_sums_avx2, zn_depthwise_sums_avx512;

#endif
