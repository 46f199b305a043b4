// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a convolution's input with what usually follows it on the way back: sums of 2x2
// pixels (the convolution read an enlarged map), another gradient of the same map added, zeros
// where a relu was not positive. One pass over memory instead of three, and one rounding.
//
// With stride 1 it is a convolution of dy with the weights turned around. The sums of 2x2 pixels go
// into the weights: pixel m of the small map was under tap k of the outputs 2m + s + 1 - k, s being
// 0 and 1, so it is a 4x4 convolution with stride 2 whose tap s + 2 - k is the sum of those k. That
// is 4/9 of the work.
//
// It is made where the kernel conv_dot does it, so when types are known.
#include "src/op/conv/conv_lowering.h"
#include "src/op/operator.h"

#include <string.h>

enum { DY, WEIGHT, OTHERS, HALVING_TAPS = 4, MOST_TAPS = 64 };

static int residual_input(const zn_conv2d_backward_fused_attributes *a)
{
    return a->residual ? OTHERS : -1;
}

static int mask_input(const zn_conv2d_backward_fused_attributes *a)
{
    return a->mask ? OTHERS + a->residual : -1;
}

static bool fits_kernel(const zn_conv2d_backward_attributes *a, bool halves)
{
    bool square = a->kernel_h == 3 && a->kernel_w == 3 && a->pad == 1;
    if (a->stride != 1 || a->after != 0 || a->kernel_h > MOST_TAPS ||
        a->kernel_w > MOST_TAPS / a->kernel_h)
        return false;
    if (halves) return square && !a->direct && a->height % 2 == 0 && a->width % 2 == 0;
    return a->pad < a->kernel_h && a->pad < a->kernel_w;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_conv2d_backward_fused_attributes *a = node->attributes;
    const int count = OTHERS + a->residual + a->mask;
    ZN_TRY(zn_check_inputs(node, count, count, err));
    zn_node plain = *node;
    plain.attributes = &a->conv;
    plain.inputs_count = OTHERS;
    ZN_TRY(zn_op_conv2d_backward_data.infer(&plain, err));
    node->desc = plain.desc;
    if (!fits_kernel(&a->conv, a->halves))
        return zn_fail(err, ZENITH_INTERNAL, "conv2d_backward_fused: a kernel that does not fit");
    if (a->halves) {
        node->desc.shape.dim[1] /= 2;
        node->desc.shape.dim[2] /= 2;
    }
    for (int i = OTHERS; i < count; i++) {
        if (!zn_shape_equal(&node->inputs[i]->desc.shape, &node->desc.shape))
            return zn_fail(err, ZENITH_INTERNAL, "conv2d_backward_fused: maps that do not fit");
    }
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const zn_conv2d_backward_fused_attributes *a = node->attributes;
    if (input != DY) return out;
    if (a->halves) return (zn_rows){2 * out.begin - 1, 2 * (out.end - 1) - 1 + HALVING_TAPS};
    const int64_t pad = a->conv.kernel_h - 1 - a->conv.pad;
    return (zn_rows){out.begin - pad, out.end - 1 - pad + a->conv.kernel_h};
}

// --- as a convolution ---------------------------------------------------------------------------

// One kernel turned around.
static void turn_plane(const float *plane, int64_t taps, float *turned)
{
    while (taps-- > 0) *turned++ = plane[taps];
}

// One 3x3 kernel turned around, and added up for the four pixels that a small one was.
static void halve_plane(const float *plane, float *turned)
{
    memset(turned, 0, HALVING_TAPS * HALVING_TAPS * sizeof *turned);
    for (int tap = 0; tap < 9; tap++) {
        float *corner = turned + (2 - tap / 3) * HALVING_TAPS + 2 - tap % 3;
        corner[0] += plane[tap];
        corner[1] += plane[tap];
        corner[HALVING_TAPS] += plane[tap];
        corner[HALVING_TAPS + 1] += plane[tap];
    }
}

// Weights [out, in, kh, kw] to [in, out, taps, taps].
static void turn(const void *arg, float *turned)
{
    const zn_node *node = arg;
    const zn_conv2d_backward_fused_attributes *a = node->attributes;
    const zn_tensor *weight = &node->inputs[WEIGHT]->constant;
    const int64_t *w = weight->desc.shape.dim, taps = w[2] * w[3];
    const int64_t made = a->halves ? HALVING_TAPS * HALVING_TAPS : taps;
    float plane[MOST_TAPS];
    for (int64_t o = 0; o < w[0]; o++) {
        for (int64_t i = 0; i < w[1]; i++) {
            float *to = turned + (i * w[0] + o) * made;
            zn_values_get(weight, (size_t)((o * w[1] + i) * taps), (size_t)taps, plane);
            if (a->halves)
                halve_plane(plane, to);
            else
                turn_plane(plane, taps, to);
        }
    }
}

// node: of this operator, or like one.
static zn_conv_parts take_apart(const zn_node *node)
{
    const zn_conv2d_backward_fused_attributes *a = node->attributes;
    const zn_tensor *parameter = &node->inputs[WEIGHT]->constant;
    const int64_t *w = parameter->desc.shape.dim;
    const int64_t high = a->halves ? HALVING_TAPS : w[2], wide = a->halves ? HALVING_TAPS : w[3];
    const zn_desc turned = zn_desc_make(ZN_F32, ZN_SHAPE(w[1], w[0], high, wide));
    return (zn_conv_parts){.node = node,
                           .weight = {.tensor = {.desc = turned},
                                      .source = parameter->data,
                                      .variant = a->halves ? "halved" : "turned",
                                      .make = turn,
                                      .arg = node},
                           .residual = a->residual ? node->inputs[residual_input(a)] : NULL,
                           .residual_input = residual_input(a),
                           .mask = a->mask ? node->inputs[mask_input(a)] : NULL,
                           .mask_input = mask_input(a),
                           .stride = a->halves ? 2 : 1,
                           .pad = a->halves ? 1 : (int)a->conv.kernel_w - 1 - a->conv.pad,
                           .direct = a->conv.direct};
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_conv_parts parts = take_apart(request->node);
    if (zn_conv_dot_fits(&request->cpu, &parts))
        return zn_conv_dot_lower(request, &parts, out, err);
    return zn_fail(err, ZENITH_UNSUPPORTED, "conv2d_backward_fused has no kernel for %s here",
                   zn_type_name(request->node->inputs[DY]->desc.type));
}

static bool rings(const zn_lowering_request *request)
{
    const zn_conv_parts parts = take_apart(request->node);
    return zn_conv_dot_fits(&request->cpu, &parts);
}

static double flops(const zn_node *node)
{
    const zn_conv2d_backward_fused_attributes *a = node->attributes;
    const int64_t *dy = node->inputs[DY]->desc.shape.dim, *w = node->inputs[1]->desc.shape.dim;
    const double taps = a->halves ? 4 : (double)(w[2] * w[3]); // for each pixel of dy
    return 2.0 * (double)dy[0] * (double)dy[1] * (double)dy[2] * (double)dy[3] * (double)w[1] *
           taps;
}

// --- fusion -------------------------------------------------------------------------------------

// What a match becomes: attributes, and inputs in order. Returns their number. Nodes at ZN_ANY:
// those of the convolution, the residual, the mask.
static int gather(const zn_match *match, zn_conv2d_backward_fused_attributes *a, zn_node **inputs)
{
    const zn_node *data = zn_matched(match, &zn_op_conv2d_backward_data);
    *a = (zn_conv2d_backward_fused_attributes){
        .conv = *(const zn_conv2d_backward_attributes *)data->attributes,
        .halves = zn_matched(match, &zn_op_sum2) != NULL,
        .residual = zn_matched(match, &zn_op_add) != NULL,
        .mask = zn_matched(match, &zn_op_relu_gradient) != NULL};
    for (int i = 0; i < match->any_count; i++) inputs[i] = match->any[i];
    return match->any_count;
}

static bool accepts(const zn_match *match, const zn_cpu *cpu)
{
    zn_conv2d_backward_fused_attributes a;
    zn_node *inputs[OTHERS + 2];
    zn_node like = {.desc = match->nodes[0]->desc, .inputs = inputs, .attributes = &a};
    like.inputs_count = gather(match, &a, inputs);
    if (!fits_kernel(&a.conv, a.halves)) return false;
    const zn_conv_parts parts = take_apart(&like);
    return zn_conv_dot_fits(cpu, &parts);
}

static zn_node *build(zn_graph *graph, const zn_match *match)
{
    zn_conv2d_backward_fused_attributes a;
    zn_node *inputs[OTHERS + 2];
    const int count = gather(match, &a, inputs);
    return zn_graph_add(graph, &zn_op_conv2d_backward_fused, match->nodes[0]->name, inputs, count,
                        &a);
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    const zn_conv2d_backward_fused_attributes *a = node->attributes;
    zn_node *y = zn_graph_add(graph, &zn_op_conv2d_backward_data, node->name, inputs, OTHERS,
                              &a->conv);
    if (a->halves) y = zn_sum2(graph, node->name, y);
    if (a->residual) y = zn_add(graph, node->name, y, inputs[residual_input(a)]);
    return a->mask ? zn_relu_gradient(graph, node->name, y, inputs[mask_input(a)]) : y;
}

// clang-format off
#define DATA       {&zn_op_conv2d_backward_data, {ZN_ANY, ZN_ANY}}
#define MASKED     {&zn_op_relu_gradient, {1, ZN_ANY}}
#define HALVED(of) {&zn_op_sum2, {of}}
#define SUM(of)    {&zn_op_add, {ZN_EITHER(of), ZN_ANY}}
// clang-format on

static const zn_conv2d_backward_fused_attributes
    all = {{1, 1, false, 4, 37, 3, 3, 0}, false, true, true},
    masked = {{1, 1, false, 5, 13, 3, 3, 0}, false, false, true},
    sum_only = {{1, 0, false, 3, 9, 1, 1, 0}, false, true, false},
    halved = {{1, 1, false, 6, 38, 3, 3, 0}, true, false, true},
    halved_pixel = {{1, 1, false, 2, 2, 3, 3, 0}, true, false, false};

const zn_op zn_op_conv2d_backward_fused = {
    .name = "conv2d_backward_fused",
    .summary = "the gradient of a convolution's input, then what a relu or another reader adds",
    .attributes_size = sizeof(zn_conv2d_backward_fused_attributes),
    .traits = ZN_OP_MATMUL,
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .rows = rows,
    .lower = lower,
    .rings = rings,
    .flops = flops,
    .patterns = ZN_PATTERNS({MASKED, SUM(2), DATA}, {MASKED, HALVED(2), DATA}, {MASKED, DATA},
                            {SUM(1), DATA}, {HALVED(1), DATA}),
    .accepts = accepts,
    .build = build,
    .expand = expand,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("all", &all, 2, ZN_MAP(4, 37, 64), {4, {64, 64, 3, 3}}, ZN_MAP(4, 37, 64),
                  ZN_MAP(4, 37, 64)),
        ZN_SAMPLE("masked", &masked, 2, ZN_MAP(5, 13, 32), {4, {32, 20, 3, 3}}, ZN_MAP(5, 13, 20)),
        ZN_SAMPLE("sum", &sum_only, 2, ZN_MAP(3, 9, 64), {4, {64, 32, 1, 1}}, ZN_MAP(3, 9, 32)),
        ZN_SAMPLE("halved", &halved, 2, ZN_MAP(6, 38, 64), {4, {64, 64, 3, 3}}, ZN_MAP(3, 19, 64)),
        ZN_SAMPLE("halved pixel", &halved_pixel, 2, ZN_MAP(2, 2, 32), {4, {32, 16, 3, 3}})),
};
