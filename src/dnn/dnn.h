// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// All contact with oneDNN. Nothing above knows its types; built without it (none.c) zn_dnn_create
// says ZENITH_UNSUPPORTED and the callers use our own kernels.
//
// How we use it: the ISA is capped to ours, the primitive cache is off (plans hold their
// primitives), scratchpads are the caller's memory, weights are packed once into the layout that
// the primitive asks for. A zn_dnn and what is made from it are used only on one thread: the
// executor thread that created it, with its number of threads. They are freed there, or under the
// context's lock while no job runs.
#ifndef ZN_DNN_DNN_H
#define ZN_DNN_DNN_H

#include "src/base/cpu.h"
#include "src/tensor/tensor.h"

typedef struct zn_dnn zn_dnn;

zenith_status zn_dnn_create(const zn_cpu *cpu, zn_dnn **out, zn_error *err);
void zn_dnn_free(zn_dnn *dnn);
const char *zn_dnn_version(void); // "3.2.0", or "none"

// A convolution over rows of a channels-last map, without vertical padding (the caller's rows
// include the halo; rows that lie outside the picture are zero):
//
//     t   = src_scale * weight_scale[o] * sum(src * weights) + bias[o]
//     t  += residual_scale * dst        with residual: dst holds the residual before the call
//     t   = max(t, 0)                   with relu
//     dst = t / dst_scale               rounded and saturated for integer types
typedef struct zn_dnn_conv_desc {
    int64_t rows_in, width_in, channels_in;
    int64_t rows_out, width_out, channels_out;
    int kernel_h, kernel_w, stride, pad_left, pad_right;
    zn_type src, weights, dst; // f32 f32 f32; bf16 bf16 bf16|f32; u8|s8 s8 any of f32 bf16 u8 s8
    bool bias, relu, residual;
    zn_type residual_type; // as large as dst: s8 under u8, say
    float src_scale, dst_scale, residual_scale;
    const float *weight_scales; // channels_out of them for s8 weights; NULL = 1
} zn_dnn_conv_desc;

typedef struct zn_dnn_conv zn_dnn_conv;

// ZENITH_UNSUPPORTED where oneDNN has no such convolution on this ISA.
zenith_status zn_dnn_conv_create(zn_dnn *dnn, const zn_dnn_conv_desc *desc, zn_dnn_conv **out,
                                 zn_error *err);
void zn_dnn_conv_free(zn_dnn_conv *conv);
const char *zn_dnn_conv_id(const zn_dnn_conv *conv);          // "onednn:brgconv:avx512_core_amx"
const zn_layout *zn_dnn_conv_layout(const zn_dnn_conv *conv); // of packed weights
size_t zn_dnn_conv_scratch(const zn_dnn_conv *conv);
// weights: dense [out, in, kh, kw] of the description's weight type. packed: the layout's bytes.
zenith_status zn_dnn_conv_pack(const zn_dnn_conv *conv, const void *weights, void *packed,
                               zn_error *err);
// bias: f32 per output channel, or NULL.
zenith_status zn_dnn_conv_run(const zn_dnn_conv *conv, const void *src, const void *packed,
                              const float *bias, void *dst, void *scratch, zn_error *err);

#endif
