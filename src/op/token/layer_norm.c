// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// (x - mean) / sqrt(variance + epsilon) * gain + bias, over the channels of each token or of its
// groups.
#include "src/op/op_checks.h"
#include "src/op/ops.h"
#include "src/op/token/token_norm_op.h"

static const zn_token_norm_parts bare = {1, 1e-5f, true, false, false},
                                 usual = {1, 1e-6f, true, true, true},
                                 moved = {1, 0.1f, true, false, true},
                                 heads = {4, 1e-5f, true, true, true};
// clang-format off
#define MAP(h, w, c) {4, {1, h, w, c}}
static const zn_op_sample samples[] = {
    {.name = "bare", .inputs_count = 1, .inputs = {MAP(4, 3, 33)}, .attributes = &bare},
    {.name = "usual", .inputs_count = 3, .inputs = {MAP(19, 1, 133), {1, {133}}, {1, {133}}},
     .parameters = 6, .attributes = &usual},
    {.name = "moved", .inputs_count = 2, .inputs = {MAP(5, 1, 16), {1, {16}}}, .parameters = 2,
     .attributes = &moved},
    {.name = "heads", .inputs_count = 3, .inputs = {MAP(3, 5, 96), {1, {24}}, {1, {24}}},
     .attributes = &heads},
};
// clang-format on

const zn_op zn_op_layer_norm = {
    .name = "layer_norm",
    .summary =
        "a token's channels, or groups of them, less their mean and divided by their deviation",
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

zn_node *zn_layer_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gain, zn_node *bias,
                       zn_token_norm_attributes attributes)
{
    const zn_token_norm_parts parts = {attributes.groups, attributes.epsilon, true, gain != NULL,
                                       bias != NULL};
    zn_node *inputs[3] = {x};
    int count = 1;
    if (gain) inputs[count++] = gain;
    if (bias) inputs[count++] = bias;
    return zn_graph_add(graph, &zn_op_layer_norm, name, inputs, count, &parts);
}
