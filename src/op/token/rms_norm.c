// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// x / sqrt(mean(x^2) + epsilon) * gain, over the channels of each token or of its groups.
#include "src/op/op_checks.h"
#include "src/op/ops.h"
#include "src/op/token/token_norm_op.h"

static const zn_token_norm_parts one = {1, 1e-6f, false, true, false},
                                 bare = {1, 0.5f, false, false, false},
                                 heads = {4, 1e-5f, false, true, false};
// clang-format off
#define MAP(h, w, c) {4, {1, h, w, c}}
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {MAP(1, 1, 1)}, .attributes = &bare},
    {.name = "tokens", .inputs_count = 2, .inputs = {MAP(19, 1, 133), {1, {133}}}, .parameters = 2,
     .attributes = &one},
    {.name = "heads", .inputs_count = 2, .inputs = {MAP(3, 5, 96), {1, {24}}}, .attributes = &heads},
};
// clang-format on

const zn_op zn_op_rms_norm = {
    .name = "rms_norm",
    .summary = "a token's channels, or groups of them, divided by the root of their mean square",
    .attributes_size = sizeof(zn_token_norm_parts),
    .result_types = ZN_FLOAT_TYPES,
    .infer = zn_token_norm_infer,
    .reference = zn_token_norm_by_reference,
    .lower = zn_token_norm_lower,
    .flops = zn_token_norm_flops,
    .gradient = zn_token_norm_gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_rms_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gain,
                     zn_token_norm_attributes attributes)
{
    const zn_token_norm_parts parts = {attributes.groups, attributes.epsilon, false, gain != NULL,
                                       false};
    return zn_graph_add(graph, &zn_op_rms_norm, name, (zn_node *[]){x, gain}, 1 + parts.gain,
                        &parts);
}
