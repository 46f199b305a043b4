// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolution of a channels-last map with zero padding, one stride for both axes; and with what
// usually follows it (conv2d_fused): bias, a residual added, relu. One pass over memory instead of
// three, and one rounding.
#include "src/op/conv/conv_lowering.h"
#include "src/op/operator.h"

static zn_conv2d_fused_attributes how_of(const zn_node *node)
{
    if (node->op == &zn_op_conv2d_fused)
        return *(const zn_conv2d_fused_attributes *)node->attributes;
    return (zn_conv2d_fused_attributes){.conv = *(const zn_conv2d_attributes *)node->attributes,
                                        .bias = node->inputs_count > 2};
}

static int residual_input(const zn_conv2d_fused_attributes *a)
{
    return a->bias ? 3 : 2;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_conv2d_fused_attributes a = how_of(node);
    const int count = 2 + a.bias + a.residual;
    ZN_TRY(zn_check_inputs(node, count, count, err));
    ZN_TRY(zn_conv_infer(node, a.conv.stride, a.conv.pad, a.conv.after, err));
    ZN_TRY(zn_conv_check_frame(node, a.conv.frame, err));
    if (a.bias) ZN_TRY(zn_check_vector(node, 2, node->desc.shape.dim[3], err));
    const zn_node *residual = a.residual ? node->inputs[residual_input(&a)] : NULL;
    if (residual && !zn_shape_equal(&residual->desc.shape, &node->desc.shape))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "conv2d_fused: the residual has another shape than the convolution");
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const zn_conv2d_attributes *a = node->attributes; // those of conv2d_fused begin alike
    return input == 0 ? zn_conv_rows(node, a->stride, a->pad, out) : out;
}

// The sum over one window: x [n, h, w, ci] at row top, column left, weight [co, ci, (frames,) kh,
// kw].
static double window(const zn_tensor *x, const zn_tensor *weight, int frame, int64_t n, int64_t top,
                     int64_t left, int64_t o)
{
    const zn_shape shape = zn_conv_weight_shape(&weight->desc.shape);
    const int64_t *xd = x->desc.shape.dim, *wd = shape.dim;
    const int64_t frames = weight->desc.shape.rank == 5 ? weight->desc.shape.dim[2] : 1;
    double sum = 0;
    for (int64_t i = 0; i < wd[2]; i++) {
        for (int64_t j = 0; j < wd[3]; j++) {
            int64_t row = top + i, column = left + j;
            if (row < 0 || row >= xd[1] || column < 0 || column >= xd[2]) continue;
            for (int64_t c = 0; c < wd[1]; c++) {
                int64_t at = ((n * xd[1] + row) * xd[2] + column) * xd[3] + c;
                int64_t kernel = (o * wd[1] + c) * frames + frame;
                int64_t weight_at = (kernel * wd[2] + i) * wd[3] + j;
                sum += (double)zn_value_get(x, (size_t)at) *
                       (double)zn_value_get(weight, (size_t)weight_at);
            }
        }
    }
    return sum;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_conv2d_attributes *a = node->attributes;
    const int64_t *y = output->desc.shape.dim;
    size_t next = 0;
    for (int64_t n = 0; n < y[0]; n++) {
        for (int64_t h = 0; h < y[1]; h++) {
            for (int64_t w = 0; w < y[2]; w++) {
                for (int64_t o = 0; o < y[3]; o++) {
                    double sum = window(&inputs[0], &inputs[1], a->frame, n, h * a->stride - a->pad,
                                        w * a->stride - a->pad, o);
                    if (node->inputs_count == 3) sum += (double)zn_value_get(&inputs[2], (size_t)o);
                    zn_value_set(output, next++, (float)sum);
                }
            }
        }
    }
}

static zn_conv_parts take_apart(const zn_node *node)
{
    const zn_conv2d_fused_attributes a = how_of(node);
    return (zn_conv_parts){.node = node,
                           .weight = zn_conv_weight_of(&node->inputs[1]->constant, a.conv.frame),
                           .bias = a.bias ? node->inputs[2] : NULL,
                           .residual = a.residual ? node->inputs[residual_input(&a)] : NULL,
                           .residual_input = residual_input(&a),
                           .stride = a.conv.stride,
                           .pad = a.conv.pad,
                           .relu = a.relu,
                           .direct = a.conv.direct};
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

static zn_conv2d_backward_attributes backward_of(const zn_node *conv)
{
    const zn_conv2d_attributes *a = conv->attributes;
    const int64_t *x = conv->inputs[0]->desc.shape.dim, *w = conv->inputs[1]->desc.shape.dim;
    return (zn_conv2d_backward_attributes){
        .stride = a->stride,
        .pad = a->pad,
        .direct = a->direct,
        .height = x[1],
        .width = x[2],
        .kernel_h = w[2],
        .kernel_w = w[3],
        .after = a->after,
    };
}

// Is it what upsample2_conv fuses? Then the doubled map has no other reader.
static bool reads_doubled(const zn_node *node)
{
    const zn_conv2d_attributes *a = node->attributes;
    const zn_node *x = node->inputs[0];
    const int64_t *w = node->inputs[1]->desc.shape.dim;
    return x->kind == ZN_NODE_OP && x->op == &zn_op_upsample2 && !a->direct && a->stride == 1 &&
           a->pad == 1 && a->after == 0 && w[2] == 3 && w[3] == 3;
}

static zn_node *weight_gradient(zn_graph *graph, const zn_node *node, zn_node *dy)
{
    zn_node *x = node->inputs[0];
    if (reads_doubled(node))
        return zn_graph_pair(graph, &zn_op_upsample2_conv_backward_weights, node->name,
                             x->inputs[0], dy, NULL);
    const zn_conv2d_backward_attributes a = backward_of(node);
    return zn_graph_pair(graph, &zn_op_conv2d_backward_weights, node->name, x, dy, &a);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (node->inputs[1]->desc.shape.rank != 4) {
        graph->status = zn_fail(graph->err, ZENITH_UNSUPPORTED,
                                "convolutions over time have no gradient");
        return NULL;
    }
    const zn_conv2d_backward_attributes a = backward_of(node);
    if (input == 0)
        return zn_graph_pair(graph, &zn_op_conv2d_backward_data, node->name, dy, node->inputs[1],
                             &a);
    if (input == 1) return weight_gradient(graph, node, dy);
    return zn_channel_sum(graph, node->name, dy);
}

static const zn_conv2d_attributes same = {1, 1, false, 0, 0}, exact = {1, 1, true, 0, 0},
                                  half = {2, 1, false, 0, 0}, point = {1, 0, false, 0, 0},
                                  skip = {2, 0, false, 0, 0}, down = {2, 0, false, 1, 0},
                                  last = {1, 1, false, 0, 2}, middle = {1, 0, false, 0, 1};

const zn_op zn_op_conv2d = {
    .name = "conv2d",
    .summary = "convolution with zero padding",
    .attributes_size = sizeof(zn_conv2d_attributes),
    .traits = ZN_OP_MATMUL,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .rings = rings,
    .flops = zn_conv_flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", &same, 6, ZN_MAP(1, 1, 3), {4, {4, 3, 3, 3}}, ZN_VECTOR(4)),
        ZN_SAMPLE("odd", &same, 6, ZN_MAP(5, 7, 4), {4, {3, 4, 3, 3}}, ZN_VECTOR(3)),
        ZN_SAMPLE("point", &point, 2, ZN_MAP(3, 9, 64), {4, {4, 64, 1, 1}}),
        ZN_SAMPLE("half", &half, 6, ZN_MAP(9, 12, 3), {4, {64, 3, 3, 3}}, ZN_VECTOR(64)),
        ZN_SAMPLE("skip", &skip, 6, ZN_MAP(6, 5, 12), {4, {16, 12, 1, 1}}, ZN_VECTOR(16)),
        ZN_SAMPLE("wide", &same, 2, ZN_MAP(4, 37, 64), {4, {64, 64, 3, 3}}),
        ZN_SAMPLE("exact", &exact, 2, ZN_MAP(4, 5, 32), {4, {16, 32, 3, 3}}),
        ZN_SAMPLE("down", &down, 6, ZN_MAP(6, 8, 16), {4, {32, 16, 3, 3}}, ZN_VECTOR(32)),
        ZN_SAMPLE("down odd", &down, 6, ZN_MAP(5, 7, 64), {4, {64, 64, 3, 3}}, ZN_VECTOR(64)),
        ZN_SAMPLE_WITHOUT_GRADIENT("last frame", &last, 6, ZN_MAP(5, 7, 16), {5, {32, 16, 3, 3, 3}},
                                   ZN_VECTOR(32)),
        ZN_SAMPLE_WITHOUT_GRADIENT("frame of points", &middle, 2, ZN_MAP(3, 5, 24),
                                   {5, {7, 24, 3, 1, 1}})),
};

zn_node *zn_conv2d(zn_graph *graph, const char *name, zn_node *x, zn_node *weight, zn_node *bias,
                   int stride, int pad)
{
    return zn_graph_add(graph, &zn_op_conv2d, name, (zn_node *[]){x, weight, bias}, bias ? 3 : 2,
                        &(zn_conv2d_attributes){.stride = stride, .pad = pad});
}

// --- with what follows it -----------------------------------------------------------------------

static double fused_flops(const zn_node *node)
{
    const zn_conv2d_fused_attributes *a = node->attributes;
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return zn_conv_flops(node) + (double)elements * (a->residual + a->relu);
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    const zn_conv2d_fused_attributes *a = node->attributes;
    zn_node *y = zn_graph_add(graph, &zn_op_conv2d, node->name, inputs, 2 + a->bias, &a->conv);
    if (a->residual) y = zn_add(graph, node->name, y, inputs[residual_input(a)]);
    return a->relu ? zn_relu(graph, node->name, y) : y;
}

// The value is that of the pattern's root, so the node takes its name. Nodes at ZN_ANY: those of
// the convolution, then the residual.
static zn_node *build(zn_graph *graph, const zn_match *match)
{
    zn_conv2d_fused_attributes fused = how_of(zn_matched(match, &zn_op_conv2d));
    fused.residual = zn_matched(match, &zn_op_add) != NULL;
    fused.relu = zn_matched(match, &zn_op_relu) != NULL;
    return zn_graph_add(graph, &zn_op_conv2d_fused, match->nodes[0]->name, match->any,
                        match->any_count, &fused);
}

// clang-format off
#define CONV    {&zn_op_conv2d, {ZN_ANY, ZN_ANY, ZN_MAYBE}}
#define SUM(of) {&zn_op_add, {ZN_EITHER(of), ZN_ANY}}
#define RELU    {&zn_op_relu, {1}}
// clang-format on

static const zn_conv2d_fused_attributes all = {{1, 1, false, 0, 0}, true, true, true},
                                        exact_all = {{1, 1, true, 0, 0}, true, true, true},
                                        sum_only = {{1, 1, false, 0, 0}, false, true, false},
                                        relu_half = {{2, 1, false, 0, 0}, true, false, true},
                                        point_all = {{1, 0, false, 0, 0}, true, true, true},
                                        frame_sum = {{1, 1, false, 0, 1}, false, true, false};

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
    .flops = fused_flops,
    .patterns = ZN_PATTERNS({RELU, SUM(2), CONV}, {SUM(1), CONV}, {RELU, CONV}),
    .build = build,
    .expand = expand,
    .no_gradient = "it is only made after differentiation",
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", &all, 6, ZN_MAP(1, 1, 3), {4, {3, 3, 3, 3}}, ZN_VECTOR(3),
                  ZN_MAP(1, 1, 3)),
        ZN_SAMPLE("block", &all, 6, ZN_MAP(5, 13, 64), {4, {64, 64, 3, 3}}, ZN_VECTOR(64),
                  ZN_MAP(5, 13, 64)),
        ZN_SAMPLE("exact", &exact_all, 6, ZN_MAP(3, 9, 32), {4, {16, 32, 3, 3}}, ZN_VECTOR(16),
                  ZN_MAP(3, 9, 16)),
        ZN_SAMPLE("sum", &sum_only, 2, ZN_MAP(4, 7, 4), {4, {16, 4, 3, 3}}, ZN_MAP(4, 7, 16)),
        ZN_SAMPLE("half", &relu_half, 6, ZN_MAP(8, 10, 64), {4, {64, 64, 3, 3}}, ZN_VECTOR(64)),
        ZN_SAMPLE("point", &point_all, 6, ZN_MAP(3, 9, 32), {4, {64, 32, 1, 1}}, ZN_VECTOR(64),
                  ZN_MAP(3, 9, 64)),
        ZN_SAMPLE("frame", &frame_sum, 2, ZN_MAP(4, 7, 16), {5, {32, 16, 3, 3, 3}},
                  ZN_MAP(4, 7, 32))),
};
