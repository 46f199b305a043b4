// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// rms_norm and the activation after it: one pass over memory instead of two, and one rounding.
#include "src/kernel/kernels.h"
#include "src/op/op_checks.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"
#include "src/op/token/pixel_lowering.h"
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

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_pixel_lower(request, compute, out, err);
}

static double flops(const zn_node *node)
{
    return zn_token_norm_flops(node) + zn_activation_flops(node);
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    const attributes *a = node->attributes;
    zn_node *normed = zn_graph_add(graph, &zn_op_rms_norm, node->name, inputs, INPUTS, &a->norm);
    return zn_activate(graph, node->name, normed, a->activation.kind);
}

// clang-format off
static const zn_pattern *const patterns[] = {
    (const zn_pattern[]){{"activate", {1, ZN_NONE}},
                         {"rms_norm", {ZN_ANY, ZN_ANY, ZN_NONE}},
                         {NULL, {ZN_NONE}}},
};
// clang-format on

// The value is that of the activation, so the node takes its name and type.
static zn_node *build(zn_graph *graph, const zn_match *match)
{
    const zn_node *root = match->nodes[0];
    const attributes a = {*(const zn_token_norm_parts *)match->nodes[1]->attributes,
                          *(const zn_activation_attributes *)root->attributes};
    zn_node *node = zn_graph_add(graph, &zn_op_rms_norm_fused, root->name, match->any, INPUTS, &a);
    if (node) node->desc = root->desc;
    return node;
}

static const attributes silu = {{1, 1e-6f, false, true, false}, {ZN_ACTIVATION_SILU}},
                        heads = {{4, 1e-5f, false, true, false}, {ZN_ACTIVATION_GELU}};
// clang-format off
#define MAP(h, w, c) {4, {1, h, w, c}}
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = INPUTS, .inputs = {MAP(1, 1, 1), {1, {1}}}, .parameters = 2,
     .attributes = &silu},
    {.name = "map", .inputs_count = INPUTS, .inputs = {MAP(7, 5, 96), {1, {96}}}, .parameters = 2,
     .attributes = &silu},
    {.name = "heads", .inputs_count = INPUTS, .inputs = {MAP(3, 5, 132), {1, {33}}},
     .attributes = &heads},
};
// clang-format on

const zn_op zn_op_rms_norm_fused = {
    .name = "rms_norm_fused",
    .summary = "rms_norm, then silu, gelu or tanh",
    .attributes_size = sizeof(attributes),
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
