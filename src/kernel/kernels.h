// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// All kernels of which there is more than one version, each in the best one for a CPU. A plan fills
// the table once, from the CPU's flags, and lowerings get it in their request: nothing else asks
// what the CPU is.
#ifndef ZN_KERNEL_KERNELS_H
#define ZN_KERNEL_KERNELS_H

#include "src/kernel/attention/attention.h"
#include "src/kernel/attention/attention_gradient.h"
#include "src/kernel/attention/rope.h"
#include "src/kernel/conv/conv_dot.h"
#include "src/kernel/conv/conv_doubled.h"
#include "src/kernel/conv/conv_f32.h"
#include "src/kernel/conv/conv_weight_gradient.h"
#include "src/kernel/conv/depthwise.h"
#include "src/kernel/conv/winograd.h"
#include "src/kernel/linear/linear.h"
#include "src/kernel/linear/rotation.h"
#include "src/kernel/norm/group_norm_apply.h"
#include "src/kernel/norm/row_moments.h"
#include "src/kernel/norm/token_norm.h"
#include "src/kernel/pointwise/activation.h"
#include "src/kernel/pointwise/convert.h"
#include "src/kernel/pointwise/exp.h"
#include "src/kernel/pointwise/masked_sum.h"
#include "src/kernel/pointwise/modulate.h"
#include "src/kernel/pointwise/resample.h"
#include "src/kernel/spectral/grouped_product.h"
#include "src/kernel/spectral/walsh.h"

// None is NULL but where it says so.
typedef struct zn_kernels {
    const char *name; // of the instruction set that kernels over vector.h are compiled for
    // conv
    zn_conv_f32_fn *conv_f32;
    zn_winograd_fn *winograd;
    zn_doubled_fn *doubled;
    zn_conv_weight_gradient_fn *conv_weight_gradient, *conv_weight_gradient_bf16;
    zn_conv_dot_fn *conv_dot_bf16, *conv_dot_bytes; // of maps of bf16, of u8 and s8; NULL: none
    const char *conv_dot_name;                      // of their instruction set
    zn_depthwise_fn *depthwise;
    zn_depthwise_sums_fn *depthwise_sums;
    // linear
    const zn_linear_version *linear_f32, *linear_bf16, *linear_s8; // by weights
    const zn_linear_version *linear_bf16_tokens; // of bf16 weights with bf16 tokens
    zn_rotation_fn *rotation;
    // attention; the second where queries, keys and values are bf16
    zn_attention_fn *attention, *attention_bf16;
    const zn_attention_gradient *attention_gradient;
    zn_rope_fn *rope;
    // norm
    zn_group_norm_find *group_norm;
    zn_row_moments_fn *row_moments;
    zn_token_norm_fn *token_norm;
    zn_token_norm_gradient_fn *token_norm_gradient;
    // pointwise
    zn_activation_find *activation;
    zn_convert_find *convert;
    zn_exp_fn *exp;
    zn_masked_sum_fn *masked_sum;
    zn_modulate_fn *modulate;
    zn_resample_across_fn *resample_across;
    zn_resample_down_fn *resample_down;
    // spectral
    zn_grouped_product_fn *grouped_product;
    const zn_walsh *walsh;
} zn_kernels;

// flags: of base/cpu.h, of this CPU or of any other.
void zn_kernels_init(zn_kernels *kernels, unsigned flags);

// What an architecture has beyond the baseline.
void zn_kernels_init_x86(zn_kernels *kernels, unsigned flags);
void zn_kernels_init_arm(zn_kernels *kernels, unsigned flags);

// The version for weights of f32, bf16 or s8 and tokens of this type.
static inline const zn_linear_version *zn_linear_for(const zn_kernels *kernels, zn_type weights,
                                                     zn_type tokens)
{
    if (weights == ZN_S8) return kernels->linear_s8;
    if (weights == ZN_F32) return kernels->linear_f32;
    return tokens == ZN_BF16 ? kernels->linear_bf16_tokens : kernels->linear_bf16;
}

// The convolution of maps of this type by dot products; NULL: the CPU has no such instructions.
static inline zn_conv_dot_fn *zn_conv_dot_for(const zn_kernels *kernels, zn_type src)
{
    if (src == ZN_BF16) return kernels->conv_dot_bf16;
    return src == ZN_U8 || src == ZN_S8 ? kernels->conv_dot_bytes : NULL;
}

#endif
