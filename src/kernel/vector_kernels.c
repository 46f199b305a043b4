// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels over vector.h of one instruction set. Where vectors of four lanes would gain nothing, the baseline has
// the specification.
#include "src/kernel/kernels.h"
#include "src/kernel/vector.h"

void VERSION(zn_vector_kernels)(zn_kernels *k)
{
    k->name = VERSION_NAME;
#ifdef ZN_BASELINE
    k->conv_f32 = zn_conv_f32_reference;
    k->winograd = zn_winograd_reference;
    k->doubled = zn_doubled_reference;
    k->rope = zn_rope_reference;
    k->row_moments = zn_row_moments_reference;
    k->token_norm = zn_token_norm_reference;
    k->token_norm_gradient = zn_token_norm_gradient_reference;
    k->walsh = &zn_walsh_reference;
#else
    k->conv_f32 = VERSION(zn_conv_f32);
    k->winograd = VERSION(zn_winograd);
    k->doubled = VERSION(zn_doubled);
    k->rope = VERSION(zn_rope);
    k->row_moments = VERSION(zn_row_moments);
    k->token_norm = VERSION(zn_token_norm);
    k->token_norm_gradient = VERSION(zn_token_norm_gradient);
    k->walsh = &VERSION(zn_walsh);
#endif
    k->conv_weight_gradient = k->conv_weight_gradient_bf16 = VERSION(zn_conv_weight_gradient);
    k->depthwise = VERSION(zn_depthwise);
    k->depthwise_sums = VERSION(zn_depthwise_sums);
    k->linear_f32 = &VERSION(zn_linear_f32);
    k->linear_bf16 = k->linear_bf16_tokens = &VERSION(zn_linear_bf16);
    k->rotation = VERSION(zn_rotation);
    k->attention = k->attention_bf16 = VERSION(zn_attention);
    k->attention_gradient = &VERSION(zn_attention_gradient);
    k->group_norm = VERSION(zn_group_norm);
    k->activation = VERSION(zn_activation);
    k->convert = VERSION(zn_convert);
    k->exp = VERSION(zn_exp);
    k->masked_sum = VERSION(zn_masked_sum);
    k->modulate = VERSION(zn_modulate);
    k->grouped_product = VERSION(zn_grouped_product);
}
