// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A convolution with what usually follows it: bias, a residual added, relu. One pass over memory
// instead of three, and one rounding.
#include "src/op/conv/conv_lowering.h"
#include "src/op/op_checks.h"
#include "src/op/ops.h"

#include <string.h>

static int residual_input(const zn_conv2d_fused_attributes *a)
{
    return a->bias ? 3 : 2;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_conv2d_fused_attributes *a = node->attributes;
    int count = 2 + a->bias + a->residual;
    ZN_TRY(zn_check_inputs(node, count, count, err));
    ZN_TRY(zn_conv_infer(node, a->stride, a->pad, a->after, err));
    ZN_TRY(zn_conv_check_frame(node, a->frame, err));
    if (a->bias) ZN_TRY(zn_check_vector(node, 2, node->desc.shape.dim[3], err));
    const zn_node *residual = a->residual ? node->inputs[residual_input(a)] : NULL;
    if (residual && !zn_shape_equal(&residual->desc.shape, &node->desc.shape))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "conv2d_fused: the residual has another shape than the convolution");
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const zn_conv2d_fused_attributes *a = node->attributes;
    return input == 0 ? zn_conv_rows(node, a->stride, a->pad, out) : out;
}

static zn_conv_parts take_apart(const zn_node *node)
{
    const zn_conv2d_fused_attributes *a = node->attributes;
    return (zn_conv_parts){.node = node,
                           .weight = zn_conv_weight_of(&node->inputs[1]->constant, a->frame),
                           .bias = a->bias ? node->inputs[2] : NULL,
                           .residual = a->residual ? node->inputs[residual_input(a)] : NULL,
                           .residual_input = residual_input(a),
                           .stride = a->stride,
                           .pad = a->pad,
                           .relu = a->relu,
                           .direct = a->direct};
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_conv_parts parts = take_apart(request->node);
    return zn_conv_lower(request, &parts, out, err);
}

static bool rings(const zn_lowering_request *request)
{
    const zn_conv_parts parts = take_apart(request->node);
    return zn_conv_dot_fits(&request->cpu, &parts);
}

static double flops(const zn_node *node)
{
    const zn_conv2d_fused_attributes *a = node->attributes;
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return zn_conv_flops(node) + (double)elements * (a->residual + a->relu);
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    const zn_conv2d_fused_attributes *a = node->attributes;
    const zn_conv2d_attributes conv = {.stride = a->stride,
                                       .pad = a->pad,
                                       .direct = a->direct,
                                       .after = a->after,
                                       .frame = a->frame};
    zn_node *y = zn_graph_add(graph, &zn_op_conv2d, node->name, inputs, 2 + a->bias, &conv);
    if (a->residual) y = zn_add(graph, node->name, y, inputs[residual_input(a)]);
    return a->relu ? zn_relu(graph, node->name, y) : y;
}

// Patterns, the larger first. CONV_B is with bias; the numbers are indices in the same pattern.
// clang-format off
#define CONV   {"conv2d", {ZN_ANY, ZN_ANY, ZN_NONE}}
#define CONV_B {"conv2d", {ZN_ANY, ZN_ANY, ZN_ANY, ZN_NONE}}
#define RELU   {"relu", {1, ZN_NONE}}
#define LEFT(conv)  {"add", {conv, ZN_ANY, ZN_NONE}}
#define RIGHT(conv) {"add", {ZN_ANY, conv, ZN_NONE}}
#define END    {NULL, {ZN_NONE}}
// clang-format on
static const zn_pattern *const patterns[] = {
    (const zn_pattern[]){RELU, LEFT(2), CONV_B, END},
    (const zn_pattern[]){RELU, LEFT(2), CONV, END},
    (const zn_pattern[]){RELU, RIGHT(2), CONV_B, END},
    (const zn_pattern[]){RELU, RIGHT(2), CONV, END},
    (const zn_pattern[]){LEFT(1), CONV_B, END},
    (const zn_pattern[]){LEFT(1), CONV, END},
    (const zn_pattern[]){RIGHT(1), CONV_B, END},
    (const zn_pattern[]){RIGHT(1), CONV, END},
    (const zn_pattern[]){RELU, CONV_B, END},
    (const zn_pattern[]){RELU, CONV, END},
};

static const zn_node *matched(const zn_match *match, const zn_op *op)
{
    for (int i = 0; i < ZN_PATTERN_MAX && match->nodes[i]; i++) {
        if (match->nodes[i]->op == op) return match->nodes[i];
    }
    return NULL;
}

// The value is that of the pattern's root, so the node takes its name and type.
static zn_node *build(zn_graph *graph, const zn_match *match)
{
    const zn_node *root = match->nodes[0];
    const zn_node *conv = matched(match, &zn_op_conv2d), *sum = matched(match, &zn_op_add);
    const zn_conv2d_attributes *a = conv->attributes;
    const zn_conv2d_fused_attributes fused = {.stride = a->stride,
                                              .pad = a->pad,
                                              .bias = conv->inputs_count == 3,
                                              .residual = sum != NULL,
                                              .relu = matched(match, &zn_op_relu) != NULL,
                                              .direct = a->direct,
                                              .after = a->after,
                                              .frame = a->frame};
    // Nodes at ZN_ANY come depth first: the residual is before the convolution's or after them.
    bool residual_first = sum && sum->inputs[0] != conv;
    zn_node *inputs[4];
    int count = 0;
    for (int i = residual_first; i < residual_first + conv->inputs_count; i++)
        inputs[count++] = match->any[i];
    if (sum) inputs[count++] = match->any[residual_first ? 0 : conv->inputs_count];
    zn_node *node = zn_graph_add(graph, &zn_op_conv2d_fused, root->name, inputs, count, &fused);
    if (node) node->desc = root->desc;
    return node;
}

static const zn_conv2d_fused_attributes all = {1, 1, true, true, true, false, 0, 0},
                                        exact = {1, 1, true, true, true, true, 0, 0},
                                        sum_only = {1, 1, false, true, false, false, 0, 0},
                                        relu_half = {2, 1, true, false, true, false, 0, 0},
                                        point_all = {1, 0, true, true, true, false, 0, 0},
                                        frame_sum = {1, 1, false, true, false, false, 0, 1};
// clang-format off
#define SAMPLE(label, attribute, count, h, w, ci, co, k, third, bits)                              \
    {.name = label, .inputs_count = count,                                                         \
     .inputs = {{4, {1, h, w, ci}}, {4, {co, ci, k, k}}, third, {4, {1, h, w, co}}},               \
     .parameters = bits, .attributes = &(attribute)}
#define VECTOR(n)    {1, {n}}
#define MAP(h, w, c) {4, {1, h, w, c}}
// clang-format on
static const zn_op_sample samples[] = {
    SAMPLE("pixel", all, 4, 1, 1, 3, 3, 3, VECTOR(3), 6),
    SAMPLE("block", all, 4, 5, 13, 64, 64, 3, VECTOR(64), 6),
    SAMPLE("exact", exact, 4, 3, 9, 32, 16, 3, VECTOR(16), 6),
    SAMPLE("sum", sum_only, 3, 4, 7, 4, 16, 3, MAP(4, 7, 16), 2),
    SAMPLE("half", relu_half, 3, 8, 10, 64, 64, 3, VECTOR(64), 6),
    SAMPLE("point", point_all, 4, 3, 9, 32, 64, 1, VECTOR(64), 6),
    {.name = "frame",
     .inputs_count = 3,
     .inputs = {MAP(4, 7, 16), {5, {32, 16, 3, 3, 3}}, MAP(4, 7, 32)},
     .parameters = 2,
     .attributes = &frame_sum},
};

const zn_op zn_op_conv2d_fused = {
    .name = "conv2d_fused",
    .summary = "convolution, then a residual added, then relu",
    .attributes_size = sizeof(zn_conv2d_fused_attributes),
    .traits = ZN_OP_MATMUL,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .lower = lower,
    .rings = rings,
    .flops = flops,
    .patterns = patterns,
    .patterns_count = sizeof patterns / sizeof *patterns,
    .build = build,
    .expand = expand,
    .no_gradient = "it is only made after differentiation",
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
