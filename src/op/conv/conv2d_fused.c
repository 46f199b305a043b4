// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A convolution with what usually follows it: bias, a residual added, relu. One pass over memory
// instead of three, and one rounding.
#include "src/op/conv/conv_lowering.h"
#include "src/op/operator.h"

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

// The value is that of the pattern's root, so the node takes its name. Nodes at ZN_ANY: those of
// the convolution, then the residual.
static zn_node *build(zn_graph *graph, const zn_match *match)
{
    const zn_node *conv = zn_matched(match, &zn_op_conv2d);
    const zn_conv2d_attributes *a = conv->attributes;
    const zn_conv2d_fused_attributes fused = {.stride = a->stride,
                                              .pad = a->pad,
                                              .bias = conv->inputs_count == 3,
                                              .residual = zn_matched(match, &zn_op_add) != NULL,
                                              .relu = zn_matched(match, &zn_op_relu) != NULL,
                                              .direct = a->direct,
                                              .after = a->after,
                                              .frame = a->frame};
    return zn_graph_add(graph, &zn_op_conv2d_fused, match->nodes[0]->name, match->any,
                        match->any_count, &fused);
}

// clang-format off
#define CONV    {&zn_op_conv2d, {ZN_ANY, ZN_ANY, ZN_MAYBE}}
#define SUM(of) {&zn_op_add, {ZN_EITHER(of), ZN_ANY}}
#define RELU    {&zn_op_relu, {1}}
// clang-format on

static const zn_conv2d_fused_attributes all = {1, 1, true, true, true, false, 0, 0},
                                        exact = {1, 1, true, true, true, true, 0, 0},
                                        sum_only = {1, 1, false, true, false, false, 0, 0},
                                        relu_half = {2, 1, true, false, true, false, 0, 0},
                                        point_all = {1, 0, true, true, true, false, 0, 0},
                                        frame_sum = {1, 1, false, true, false, false, 0, 1};

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
    .patterns = ZN_PATTERNS({RELU, SUM(2), CONV}, {SUM(1), CONV}, {RELU, CONV}),
    .build = build,
    .expand = expand,
    .no_gradient = "it is only made after differentiation",
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", &all, 6, ZN_MAP(1, 1, 3), {4, {3, 3, 3, 3}}, ZN_VECTOR(3),
                  ZN_MAP(1, 1, 3)),
        ZN_SAMPLE("block", &all, 6, ZN_MAP(5, 13, 64), {4, {64, 64, 3, 3}}, ZN_VECTOR(64),
                  ZN_MAP(5, 13, 64)),
        ZN_SAMPLE("exact", &exact, 6, ZN_MAP(3, 9, 32), {4, {16, 32, 3, 3}}, ZN_VECTOR(16),
                  ZN_MAP(3, 9, 16)),
        ZN_SAMPLE("sum", &sum_only, 2, ZN_MAP(4, 7, 4), {4, {16, 4, 3, 3}}, ZN_MAP(4, 7, 16)),
        ZN_SAMPLE("half", &relu_half, 6, ZN_MAP(8, 10, 64), {4, {64, 64, 3, 3}}, ZN_VECTOR(64)),
        ZN_SAMPLE("point", &point_all, 6, ZN_MAP(3, 9, 32), {4, {64, 32, 1, 1}}, ZN_VECTOR(64),
                  ZN_MAP(3, 9, 64)),
        ZN_SAMPLE("frame", &frame_sum, 2, ZN_MAP(4, 7, 16), {5, {32, 16, 3, 3, 3}},
                  ZN_MAP(4, 7, 32))),
};
