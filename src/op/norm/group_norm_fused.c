// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A group norm's last step and the activation after it: one pass over memory instead of two, and
// one rounding.
#include "src/op/norm/group_norm_lowering.h"
#include "src/op/operator.h"
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

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    const zn_activation_attributes *a = node->attributes;
    zn_node *normed = zn_graph_add(graph, &zn_op_group_norm, node->name, inputs,
                                   ZN_GROUP_NORM_INPUTS, NULL);
    return zn_activate(graph, node->name, normed, a->kind);
}

// The value is that of the activation, so the node takes its name.
static zn_node *build(zn_graph *graph, const zn_match *match)
{
    const zn_node *root = match->nodes[0];
    return zn_graph_add(graph, &zn_op_group_norm_fused, root->name, match->any,
                        ZN_GROUP_NORM_INPUTS, root->attributes);
}

static const zn_activation_attributes silu = {ZN_ACTIVATION_SILU}, gelu = {ZN_ACTIVATION_GELU};

const zn_op zn_op_group_norm_fused = {
    .name = "group_norm_fused",
    .summary = "group_norm, then silu, gelu or tanh",
    .attributes_size = sizeof(zn_activation_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .lower = lower,
    .work = 2 + ZN_ACTIVATION_WORK,
    .patterns = ZN_PATTERNS(
        {{&zn_op_activate, {1}}, {&zn_op_group_norm, {ZN_ANY, ZN_ANY, ZN_ANY, ZN_ANY}}}),
    .build = build,
    .expand = expand,
    .no_gradient = "it is only made after differentiation",
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", &silu, 0xc, ZN_MAP(1, 1, 3), {3, {1, 1, 2}}, ZN_VECTOR(3), ZN_VECTOR(3)),
        ZN_SAMPLE("odd", &silu, 0xc, ZN_MAP(5, 7, 12), {3, {1, 4, 2}}, ZN_VECTOR(12),
                  ZN_VECTOR(12)),
        ZN_SAMPLE("wide", &silu, 0xc, ZN_MAP(4, 37, 64), {3, {1, 32, 2}}, ZN_VECTOR(64),
                  ZN_VECTOR(64)),
        ZN_SAMPLE("given", &silu, 0, ZN_MAP(4, 9, 16), {3, {1, 4, 2}}, ZN_VECTOR(16),
                  ZN_VECTOR(16)),
        ZN_SAMPLE("gelu", &gelu, 0xc, ZN_MAP(3, 11, 24), {3, {1, 2, 2}}, ZN_VECTOR(24),
                  ZN_VECTOR(24))),
};
