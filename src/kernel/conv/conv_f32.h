// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Direct convolution in f32 on channels-last rows: the general path of builds without oneDNN.
//
// Each output is one accumulator that starts at its bias (or 0) and takes its products in the order
// (kernel row, kernel column, input channel); taps outside the row are left out; then the residual
// is added, then ReLU. So bits depend on neither width, row range nor threads. The scalar version
// rounds product and sum, the AVX2 and AVX-512 versions fuse them and agree with each other.
#ifndef ZN_KERNEL_CONV_F32_H
#define ZN_KERNEL_CONV_F32_H

#include "src/kernel/versions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Output row r reads the rows r * stride .. r * stride + kernel_h - 1 of src: rows of vertical
// padding are in src, as zeros. Pixels left and right of a row count as zero. Arrays are dense and
// need no alignment (weights on a cache line are faster).
typedef struct zn_conv_f32_args {
    const float *src; // [rows, width_in, channels_in]
    int64_t width_in, channels_in;
    const float *packed;   // by zn_conv_f32_pack
    const float *bias;     // [channels_out] or NULL
    const float *residual; // [rows, width_out, channels_out] or NULL; may be dst
    float *dst;            // [rows, width_out, channels_out]
    int64_t width_out, channels_out;
    int kernel_h, kernel_w, stride;
    int pad_left; // zeros before each row; what width_out needs beyond its end is zero too
    bool relu;    // NaN stays NaN
} zn_conv_f32_args;

#define ZN_CONV_F32_BLOCK 16 // output channels that lie together in packed weights

// Bytes of the packed weights; false where that does not fit. All sizes are positive.
bool zn_conv_f32_packed_bytes(int64_t channels_out, int64_t channels_in, int kernel_h, int kernel_w,
                              size_t *out);

// [out, in, kh, kw] -> [out / BLOCK rounded up, kh, kw, in, BLOCK], the added channels zero. A
// block of output channels is one stream of memory, however many channels there are.
void zn_conv_f32_pack(const float *dense, int64_t channels_out, int64_t channels_in, int kernel_h,
                      int kernel_w, float *packed);

// Computes the output rows [begin, end).
typedef void zn_conv_f32_fn(const zn_conv_f32_args *args, int64_t begin, int64_t end);

zn_conv_f32_fn zn_conv_f32_reference; // the baseline's
ZN_VERSIONS(zn_conv_f32_fn, zn_conv_f32);

#endif
