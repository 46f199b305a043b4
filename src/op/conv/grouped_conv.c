// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// 1x1 convolution in groups of channels. weight [groups O, I, 1, 1]: outputs g O .. g O + O - 1
// read inputs g I .. g I + I - 1. Turned, it is its own gradient: each group's matrix the other way
// around.
//
// In bf16 on AMX it is computed as a dense convolution whose other weights are zero: tiles multiply
// 32 inputs at once, so groups of 16 would leave half of each empty, and the pass is bound by
// memory anyway.
//
// The gradient of a grouped 1x1 convolution with respect to its weights, in f32, [groups O, I]: for
// each group the sum over all pixels of the outer product of dy and x.
#include "src/kernel/kernels.h"
#include "src/kernel/spectral/grouped_product.h"
#include "src/op/conv/conv_lowering.h"
#include "src/op/conv/depthwise_weights.h"
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"

#include <string.h>

// inputs and outputs of one group, as it multiplies.
typedef struct grouping {
    int64_t count, inputs, outputs;
    bool turned;
} grouping;

static grouping groups_of(const zn_node *node)
{
    const zn_grouped_conv_attributes *a = node->attributes;
    const int64_t *w = node->inputs[1]->desc.shape.dim;
    const int64_t out = w[0] / a->groups;
    return (grouping){a->groups, a->turned ? out : w[1], a->turned ? w[1] : out, a->turned};
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_grouped_conv_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 2, 3, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const zn_desc *x = &node->inputs[0]->desc;
    const int64_t *dim = x->shape.dim;
    const zn_shape *w = &node->inputs[1]->desc.shape;
    bool fits = node->inputs[1]->kind == ZN_NODE_PARAMETER && w->rank == 4 && w->dim[2] == 1 &&
                w->dim[3] == 1 && w->dim[1] >= 1 && a->groups >= 1 && w->dim[0] >= a->groups &&
                w->dim[0] % a->groups == 0;
    fits = fits && dim[3] == (a->turned ? w->dim[0] : w->dim[1] * a->groups);
    if (!fits)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "grouped_conv: '%s' is no parameter for %d groups of %lld channels",
                       node->inputs[1]->name, a->groups, (long long)dim[3]);
    ZN_TRY(zn_check_wide_floats(node, 0, err));
    const grouping g = groups_of(node);
    if (x->type == ZN_BF16 && g.inputs > ZN_GROUPED_INPUTS)
        return zn_fail(err, ZENITH_UNSUPPORTED, "grouped_conv has at most %d inputs a group",
                       ZN_GROUPED_INPUTS);
    zn_infer_like_input(node);
    node->desc.shape.dim[3] = g.count * g.outputs;
    if (node->inputs_count == 3) ZN_TRY(zn_check_vector(node, 2, node->desc.shape.dim[3], err));
    return ZENITH_OK;
}

// The place in the parameter of group g's weight from input i to output o.
static size_t weight_at(const grouping *g, int64_t group, int64_t i, int64_t o)
{
    return (size_t)(g->turned ? (group * g->inputs + i) * g->outputs + o
                              : (group * g->outputs + o) * g->inputs + i);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const grouping g = groups_of(node);
    const int64_t in = g.count * g.inputs, out = g.count * g.outputs;
    for (int64_t k = 0; k < (int64_t)zn_value_count(output); k++) {
        const int64_t pixel = k / out, group = k % out / g.outputs, o = k % g.outputs;
        double sum = 0;
        for (int64_t i = 0; i < g.inputs; i++)
            sum += (double)zn_value_get(&inputs[0], (size_t)(pixel * in + group * g.inputs + i)) *
                   (double)zn_value_get(&inputs[1], weight_at(&g, group, i, o));
        if (node->inputs_count == 3) sum += (double)zn_value_get(&inputs[2], (size_t)(k % out));
        zn_value_set(output, (size_t)k, (float)sum);
    }
}

// --- as a dense convolution ---------------------------------------------------------------------

static void make_dense(const void *arg, float *dst)
{
    const zn_node *node = arg;
    const grouping g = groups_of(node);
    const int64_t in = g.count * g.inputs;
    memset(dst, 0, (size_t)(in * g.count * g.outputs) * sizeof *dst);
    for (int64_t k = 0; k < g.count * g.outputs; k++) {
        const int64_t group = k / g.outputs;
        for (int64_t i = 0; i < g.inputs; i++)
            dst[k * in + group * g.inputs + i] = zn_value_get(
                &node->inputs[1]->constant, weight_at(&g, group, i, k % g.outputs));
    }
}

static zn_conv_parts as_dense(const zn_node *node)
{
    const grouping g = groups_of(node);
    const zn_shape shape = ZN_SHAPE(g.count * g.outputs, g.count * g.inputs, 1, 1);
    return (zn_conv_parts){.node = node,
                           .weight = {.tensor = {.desc = zn_desc_make(ZN_F32, shape)},
                                      .source = node->inputs[1]->constant.data,
                                      .variant = g.turned ? "groups turned" : "groups",
                                      .make = make_dense,
                                      .arg = node},
                           .bias = node->inputs_count == 3 ? node->inputs[2] : NULL,
                           .stride = 1};
}

static bool is_dense(const zn_lowering_request *request)
{
    const zn_conv_parts parts = as_dense(request->node);
    return zn_conv_dot_fits(&request->cpu, &parts);
}

// --- by the kernel ------------------------------------------------------------------------------

typedef struct grouped_lowering {
    zn_lowering base;
    zn_grouped_product_fn *kernel;
    zn_grouped_product_args args;
    int64_t width;
} grouped_lowering;

static void run_row(const zn_lowering *base, const zn_call *call, size_t row, void *scratch)
{
    (void)scratch;
    const grouped_lowering *l = (const grouped_lowering *)base;
    zn_grouped_product_args args = l->args;
    args.src = call->inputs[0];
    args.dst = call->output;
    l->kernel(&args, (int64_t)row * l->width, (int64_t)(row + 1) * l->width);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[0]->desc;
    const grouping g = groups_of(node);
    const zn_conv_parts parts = as_dense(node);
    if (is_dense(request)) return zn_conv_dot_lower(request, &parts, out, err);
    const float *weights = NULL;
    const void *bias = NULL;
    ZN_TRY(zn_grouped_pack(request->packs, &node->inputs[1]->constant, g.count, g.turned, x->scale,
                           &weights, err));
    if (node->inputs_count == 3)
        ZN_TRY(zn_pack_vector(request->packs, &node->inputs[2]->constant, &bias, err));
    const grouped_lowering made = {.base = ZN_LOWERING_OF_PIECES(run_row, "grouped"),
                                   .kernel = request->kernels->grouped_product,
                                   .args = {.src_type = x->type,
                                            .dst_type = node->desc.type,
                                            .weights = weights,
                                            .bias = bias,
                                            .groups = g.count,
                                            .inputs = g.inputs,
                                            .outputs = g.outputs},
                                   .width = x->shape.dim[2]};
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static double flops(const zn_node *node)
{
    const grouping g = groups_of(node);
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return 2.0 * (double)g.inputs * (double)elements;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_grouped_conv_attributes *a = node->attributes;
    if (input == 2) return zn_channel_sum(graph, node->name, dy);
    if (input == 1) {
        zn_node *x = a->turned ? dy : node->inputs[0], *to = a->turned ? node->inputs[0] : dy;
        return zn_graph_pair(graph, &zn_op_grouped_backward_weights, node->name, x, to,
                             &(zn_grouped_conv_attributes){.groups = a->groups});
    }
    const zn_grouped_conv_attributes turned = {a->groups, !a->turned};
    return zn_graph_pair(graph, &zn_op_grouped_conv, node->name, dy, node->inputs[1], &turned);
}

static const zn_grouped_conv_attributes two = {2, false}, four = {4, false}, back = {4, true};

const zn_op zn_op_grouped_conv = {
    .name = "grouped_conv",
    .summary = "1x1 convolution in groups of channels",
    .attributes_size = sizeof(zn_grouped_conv_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .rings = is_dense,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", &two, 6, ZN_MAP(1, 1, 6), {4, {4, 3, 1, 1}}, ZN_VECTOR(4)),
        ZN_SAMPLE("odd", &four, 6, ZN_MAP(5, 7, 20), {4, {36, 5, 1, 1}}, ZN_VECTOR(36)),
        ZN_SAMPLE("wide", &four, 6, ZN_MAP(3, 37, 64), {4, {64, 16, 1, 1}}, ZN_VECTOR(64)),
        ZN_SAMPLE("turned", &back, 2, ZN_MAP(3, 9, 128), {4, {128, 16, 1, 1}})),
};

zn_node *zn_grouped_conv(zn_graph *graph, const char *name, zn_node *x, zn_node *weight,
                         zn_node *bias, int groups)
{
    const zn_grouped_conv_attributes a = {groups, false};
    return zn_graph_add(graph, &zn_op_grouped_conv, name, (zn_node *[]){x, weight, bias},
                        bias ? 3 : 2, &a);
}

enum { X, DY, INPUTS };

static int64_t gradient_groups_of(const zn_node *node)
{
    return ((const zn_grouped_conv_attributes *)node->attributes)->groups;
}

static zenith_status gradient_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_map(node, DY, err));
    const int64_t *x = node->inputs[X]->desc.shape.dim, *dy = node->inputs[DY]->desc.shape.dim;
    const int64_t groups = gradient_groups_of(node);
    if (groups < 1 || x[0] != dy[0] || x[1] != dy[1] || x[2] != dy[2] || x[3] % groups != 0 ||
        dy[3] % groups != 0)
        return zn_fail(err, ZENITH_INTERNAL, "grouped_backward_weights: maps that do not fit");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(dy[3], x[3] / groups));
    return ZENITH_OK;
}

static void gradient_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *x = inputs[X].desc.shape.dim, *dy = inputs[DY].desc.shape.dim;
    const int64_t in = x[3] / gradient_groups_of(node), out = dy[3] / gradient_groups_of(node);
    for (int64_t k = 0; k < dy[3] * in; k++) {
        const int64_t o = k / in, i = o / out * in + k % in;
        double sum = 0;
        for (int64_t p = 0; p < x[0] * x[1] * x[2]; p++)
            sum += (double)zn_value_get(&inputs[X], (size_t)(p * x[3] + i)) *
                   (double)zn_value_get(&inputs[DY], (size_t)(p * dy[3] + o));
        zn_value_set(output, (size_t)k, (float)sum);
    }
}

// Eight pixels of a row are summed in f32, the rest in double.
static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    enum { PIXELS = 8 };
    const int64_t *x = node->inputs[X]->desc.shape.dim, *dy = node->inputs[DY]->desc.shape.dim;
    const int64_t in = x[3] / gradient_groups_of(node), out = dy[3] / gradient_groups_of(node);
    for (int64_t first = 0; first < x[2]; first += PIXELS) {
        const int64_t end = first + PIXELS < x[2] ? first + PIXELS : x[2];
        for (int64_t o = 0; o < dy[3]; o++) {
            const float *from = inputs[X] + o / out * in;
            for (int64_t i = 0; i < in; i++) {
                float sum = 0;
                for (int64_t p = first; p < end; p++)
                    sum += from[p * x[3] + i] * inputs[DY][p * dy[3] + o];
                sums[o * in + i] += (double)sum;
            }
        }
    }
}

static double gradient_flops(const zn_node *node)
{
    const int64_t *dy = node->inputs[DY]->desc.shape.dim;
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return 2.0 * (double)elements * (double)dy[0] * (double)dy[1] * (double)dy[2];
}

const zn_op zn_op_grouped_backward_weights = {
    .name = "grouped_backward_weights",
    .summary = "the gradient of a grouped convolution with respect to its weights",
    .attributes_size = sizeof(zn_grouped_conv_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = gradient_infer,
    .rows = zn_rows_whole,
    .reference = gradient_reference,
    .add_row = add_row,
    .lower = zn_sum_lower,
    .flops = gradient_flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &two, 0, ZN_MAP(1, 1, 6), ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("odd", &four, 0, ZN_MAP(5, 7, 20), ZN_MAP(5, 7, 36)),
                          ZN_SAMPLE("wide", &four, 0, ZN_MAP(3, 37, 64), ZN_MAP(3, 37, 64))),
};
