// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// rms_norm and the activation after it: one pass over memory instead of two, and one rounding.
#include "src/kernel/kernels.h"
#include "src/op/operator.h"
#include "src/op/token/token_checks.h"
#include "src/op/token/token_norm_op.h"

typedef struct attributes {
    zn_token_norm_parts norm; // first: what rms_norm's functions read
    zn_activation_attributes activation;
} attributes;

enum { X, GAIN, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const attributes *a = node->attributes;
    ZN_TRY(zn_token_norm_infer(node, err));
    if (a->activation.kind < ZN_ACTIVATION_COUNT) return ZENITH_OK;
    return zn_fail(err, ZENITH_INTERNAL, "%s: no activation has the number %d", node->op->name,
                   (int)a->activation.kind);
}

// The pixels of a piece are in the first cache when the activation goes over them.
static void compute(const zn_pixels *p)
{
    const attributes *a = p->node->attributes;
    const zn_curve curve = zn_curve_of_kind(a->activation.kind);
    zn_token_norm_pixels(p);
    p->kernels->activation(curve, false)(p->dst, NULL, p->dst,
                                         p->count * zn_pixel_elements(p->node));
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    const attributes *a = node->attributes;
    zn_node *normed = zn_graph_add(graph, &zn_op_rms_norm, node->name, inputs, INPUTS, &a->norm);
    return zn_activate(graph, node->name, normed, a->activation.kind);
}

// The value is that of the activation, so the node takes its name.
static zn_node *build(zn_graph *graph, const zn_match *match)
{
    const zn_node *root = match->nodes[0];
    const attributes a = {*(const zn_token_norm_parts *)match->nodes[1]->attributes,
                          *(const zn_activation_attributes *)root->attributes};
    return zn_graph_add(graph, &zn_op_rms_norm_fused, root->name, match->any, INPUTS, &a);
}

static const attributes silu = {{1, 1e-6f, false, true, false}, {ZN_ACTIVATION_SILU}},
                        heads = {{4, 1e-5f, false, true, false}, {ZN_ACTIVATION_GELU}};

const zn_op zn_op_rms_norm_fused = {
    .name = "rms_norm_fused",
    .summary = "rms_norm, then silu, gelu or tanh",
    .attributes_size = sizeof(attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .pixels = compute,
    .lower = zn_pixel_lower,
    .work = 5 + ZN_ACTIVATION_WORK,
    .patterns = ZN_PATTERNS({{&zn_op_activate, {1}}, {&zn_op_rms_norm, {ZN_ANY, ZN_ANY}}}),
    .build = build,
    .expand = expand,
    .no_gradient = "it is only made after differentiation",
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &silu, 2, ZN_MAP(1, 1, 1), ZN_VECTOR(1)),
                          ZN_SAMPLE("map", &silu, 2, ZN_MAP(7, 5, 96), ZN_VECTOR(96)),
                          ZN_SAMPLE("heads", &heads, 0, ZN_MAP(3, 5, 132), ZN_VECTOR(33))),
};
