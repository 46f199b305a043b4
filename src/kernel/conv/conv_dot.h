// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolution of bf16 and 8-bit maps by dot-product instructions, on channels-last rows, with all
// that follows it in the same pass:
//
//     t   = scale[o] * sum(src * weight) + bias[o]
//     t  += residual_scale * residual
//     t   = max(t, 0)                        with relu; NaN stays NaN
//     t   = 0 unless mask > 0                with a mask: the gradient of a relu
//     dst = t                                rounded to even and saturated for integer types
//
// The caller has divided scale, bias and residual_scale by the scale of a quantised result.
//
// Sums of bf16 products are f32, in the order (kernel row, kernel column, input channel); sums of
// integers are exact. Every output is summed by itself, so bits depend on neither width, row range
// nor threads.
#ifndef ZN_KERNEL_CONV_DOT_H
#define ZN_KERNEL_CONV_DOT_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

// Output row r reads the rows r * stride .. r * stride + kernel_h - 1 of src: rows of vertical
// padding are in src, as zeros. Pixels left and right of a row count as zero. dst overlaps nothing.
typedef struct zn_conv_dot_args {
    const void *src;  // [rows, width_in, channels_in]
    zn_type src_type; // bf16, u8, s8
    int64_t src_wrap; // rows from this one on lie src_ring bytes earlier; INT64_MAX: none does
    size_t src_ring;
    int64_t width_in, channels_in;
    const void *packed;        // by zn_conv_dot_pack
    const float *scale, *bias; // [channels_out rounded up to ZN_CONV_DOT_BLOCK]
    const void *residual;      // laid out as dst, or NULL
    zn_type residual_type;     // f32, bf16, u8, s8
    float residual_scale;
    const void *mask; // bf16 source, floating result: laid out as dst and of its type, or NULL
    void *dst;        // [rows, width_out, channels_out]
    int64_t dst_row;  // pixels from one row to the next: width_out where dst is dense
    int dst_step;     // pixels from one output to the next: 1 where dst is dense
    zn_type dst_type; // f32, bf16, u8, s8
    int64_t width_out, channels_out;
    int64_t x_begin, x_end; // the columns of dst to compute
    int kernel_h, kernel_w, stride;
    int pad_left; // zeros before each row; what width_out needs beyond its end is zero too
    bool relu;
} zn_conv_dot_args;

enum {
    ZN_CONV_DOT_BLOCK = 16,       // output channels that lie together in packed weights
    ZN_CONV_DOT_BYTES = 64,       // the bytes of a pixel must be a multiple of this
    ZN_CONV_DOT_REACH = 16,       // the kernel is no wider, and pad_left no more, than this
    ZN_CONV_DOT_ROWS = 16,        // rows that go through all output channels together
    ZN_CONV_DOT_PART_COLUMNS = 64 // their columns, where sums are made in parts
};

// Bytes of the packed weights; false where that does not fit, or the channels do not.
bool zn_conv_dot_packed_bytes(zn_type type, int64_t channels_out, int64_t channels_in, int kernel_h,
                              int kernel_w, size_t *out);

// dense [out, in, kh, kw] of bf16 (for bf16 maps) or s8 -> [out / BLOCK rounded up, kh, kw,
// in / group, BLOCK, group], group being 4 bytes: what one dot-product instruction adds up. The
// added channels are zero.
void zn_conv_dot_pack(zn_type type, const void *dense, int64_t channels_out, int64_t channels_in,
                      int kernel_h, int kernel_w, void *packed);

// Computes the output rows [begin, end). scratch: zn_conv_dot_scratch(end - begin) bytes on a cache
// line, for this call alone.
typedef void zn_conv_dot_fn(const zn_conv_dot_args *args, int64_t begin, int64_t end,
                            void *scratch);
size_t zn_conv_dot_scratch(const zn_conv_dot_args *args, int64_t rows);

// Into how many parts AMX cuts a sum, and the blocks of 32 pixels whose sums then wait together.
int64_t zn_conv_dot_sum_parts(const zn_conv_dot_args *args);
int64_t zn_conv_dot_blocks(const zn_conv_dot_args *args);

zn_conv_dot_fn zn_conv_dot_reference; // the specification, for tests: plain loops
zn_conv_dot_fn zn_conv_dot_amx;
zn_conv_dot_fn zn_conv_dot_avx512_vnni; // of 8-bit maps

#endif
