// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels over vector.h of one instruction set, put into a table. Macros, in files that are
// compiled for every CPU: a table may be asked for on a CPU that has not got the set.
#ifndef ZN_KERNEL_VECTOR_KERNELS_H
#define ZN_KERNEL_VECTOR_KERNELS_H

#include "src/kernel/kernels.h"

#define ZN_TAKE_VECTOR_KERNELS(k, set)                                                             \
    do {                                                                                           \
        (k)->name = #set;                                                                          \
        (k)->conv_weight_gradient = (k)->conv_weight_gradient_bf16 =                               \
            zn_conv_weight_gradient_##set;                                                         \
        (k)->depthwise = zn_depthwise_##set;                                                       \
        (k)->depthwise_sums = zn_depthwise_sums_##set;                                             \
        (k)->linear_f32 = &zn_linear_f32_##set;                                                    \
        (k)->linear_bf16 = (k)->linear_bf16_tokens = &zn_linear_bf16_##set;                        \
        (k)->rotation = zn_rotation_##set;                                                         \
        (k)->attention = (k)->attention_bf16 = zn_attention_##set;                                 \
        (k)->attention_gradient = &zn_attention_gradient_##set;                                    \
        (k)->group_norm = zn_group_norm_##set;                                                     \
        (k)->activation = zn_activation_##set;                                                     \
        (k)->convert = zn_convert_##set;                                                           \
        (k)->exp = zn_exp_##set;                                                                   \
        (k)->masked_sum = zn_masked_sum_##set;                                                     \
        (k)->modulate = zn_modulate_##set;                                                         \
        (k)->grouped_product = zn_grouped_product_##set;                                           \
    } while (0)

// Where vectors of the baseline would gain nothing, it has the specification instead.
#define ZN_TAKE_WIDE_KERNELS(k, set)                                                               \
    do {                                                                                           \
        (k)->conv_f32 = zn_conv_f32_##set;                                                         \
        (k)->winograd = zn_winograd_##set;                                                         \
        (k)->doubled = zn_doubled_##set;                                                           \
        (k)->rope = zn_rope_##set;                                                                 \
        (k)->row_moments = zn_row_moments_##set;                                                   \
        (k)->token_norm = zn_token_norm_##set;                                                     \
        (k)->token_norm_gradient = zn_token_norm_gradient_##set;                                   \
        (k)->walsh = &zn_walsh_##set;                                                              \
    } while (0)

#endif
