// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The two ways to compute upsample2_conv, each where its kernel has these types and channels.
#ifndef ZN_OP_UPSAMPLE2_LOWERINGS_H
#define ZN_OP_UPSAMPLE2_LOWERINGS_H

#include "src/op/conv/conv_lowering.h"

// A node of upsample2_conv, or the conv2d it would be made of: its inputs 1 and 2 are weight and
// bias.
static inline zn_conv_parts zn_upsample2_parts(const zn_node *node)
{
    return (zn_conv_parts){.node = node,
                           .weight = zn_conv_weight_of(&node->inputs[1]->constant, 0),
                           .bias = node->inputs_count == 3 ? node->inputs[2] : NULL,
                           .stride = 1,
                           .pad = 1};
}

// In bf16 and 8 bits: four 2x2 convolutions with sums of weights.
bool zn_upsample2_phases_fit(const zn_cpu *cpu, const zn_node *node);
zenith_status zn_upsample2_phases_lower(const zn_lowering_request *request, zn_lowering **out,
                                        zn_error *err);

// In f32: kernel/conv/conv_doubled.
bool zn_upsample2_doubled_fits(const zn_node *node);
zenith_status zn_upsample2_doubled_lower(const zn_lowering_request *request, zn_lowering **out,
                                         zn_error *err);

#endif
