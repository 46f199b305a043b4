// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A group norm's last step and the activation after it: one pass over memory instead of two, and one
// rounding.
#include "src/op/norm/group_norm_lowering.h"
#include "src/op/op_checks.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"
#include "src/op/token/token_checks.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_group_norm_infer(node, err));
    ZN_TRY(zn_check_activation(node, err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_group_norm_lower(request, (int)zn_curve_of(request->node), out, err);
}

static double flops(const zn_node *node)
{
    return 2 * zn_flops_of_input(node) + zn_activation_flops(node);
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    const zn_activation_attributes *a = node->attributes;
    zn_node *normed = zn_graph_add(graph, &zn_op_group_norm, node->name, inputs,
                                   ZN_GROUP_NORM_INPUTS, NULL);
    return zn_activate(graph, node->name, normed, a->kind);
}

// clang-format off
static const zn_pattern *const patterns[] = {
    (const zn_pattern[]){{"activate", {1, ZN_NONE}},
                         {"group_norm", {ZN_ANY, ZN_ANY, ZN_ANY, ZN_ANY}},
                         {NULL, {ZN_NONE}}},
};
// clang-format on

// The value is that of the activation, so the node takes its name and type.
static zn_node *build(zn_graph *graph, const zn_match *match)
{
    const zn_node *root = match->nodes[0];
    zn_node *node = zn_graph_add(graph, &zn_op_group_norm_fused, root->name, match->any,
                                 ZN_GROUP_NORM_INPUTS, root->attributes);
    if (node) node->desc = root->desc;
    return node;
}

static const zn_activation_attributes silu = {ZN_ACTIVATION_SILU}, gelu = {ZN_ACTIVATION_GELU};
#define SAMPLE(label, h, w, c, groups, mask, attribute)                                            \
    {                                                                                              \
        .name = label, .inputs_count = ZN_GROUP_NORM_INPUTS,                                       \
        .inputs = {{4, {1, h, w, c}}, {3, {1, groups, 2}}, {1, {c}}, {1, {c}}},                    \
        .parameters = mask, .attributes = &(attribute)                                             \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", 1, 1, 3, 1, 12, silu),
    SAMPLE("odd", 5, 7, 12, 4, 12, silu),
    SAMPLE("wide", 4, 37, 64, 32, 12, silu),
    SAMPLE("given", 4, 9, 16, 4, 0, silu), // gamma and beta of a condition
    SAMPLE("gelu", 3, 11, 24, 2, 12, gelu),
};

const zn_op zn_op_group_norm_fused = {
    .name = "group_norm_fused",
    .summary = "group_norm, then silu, gelu or tanh",
    .attributes_size = sizeof(zn_activation_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .lower = lower,
    .flops = flops,
    .patterns = patterns,
    .patterns_count = sizeof patterns / sizeof *patterns,
    .build = build,
    .expand = expand,
    .no_gradient = "it is only made after differentiation",
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
