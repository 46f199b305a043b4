// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise 3x3 convolution with zero padding: each channel by itself. Turned, it is its own
// gradient: the same with the nine weights in the opposite order.
//
// The gradient of a depthwise 3x3 convolution with respect to its weights, in f32, [c, 9].
#include "src/kernel/conv/depthwise.h"
#include "src/kernel/kernels.h"
#include "src/op/conv/depthwise_weights.h"
#include "src/op/operator.h"

static bool is_turned(const zn_node *node)
{
    return ((const zn_depthwise_attributes *)node->attributes)->turned;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 2, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const zn_desc *x = &node->inputs[0]->desc;
    const zn_shape *w = &node->inputs[1]->desc.shape;
    if (node->inputs[1]->kind != ZN_NODE_PARAMETER || w->rank != 4 ||
        w->dim[0] != x->shape.dim[3] || w->dim[1] != 1 || w->dim[2] != 3 || w->dim[3] != 3)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "depthwise_conv: '%s' is no parameter [%lld, 1, 3, 3]",
                       node->inputs[1]->name, (long long)x->shape.dim[3]);
    ZN_TRY(zn_check_wide_floats(node, 0, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    (void)node;
    return input == 0 ? (zn_rows){out.begin - 1, out.end + 1} : out;
}

static double window(const zn_node *node, const zn_tensor *inputs, int64_t n, int64_t row,
                     int64_t column, int64_t c)
{
    const int64_t *dim = inputs[0].desc.shape.dim;
    double sum = 0;
    for (int64_t tap = 0; tap < ZN_DEPTHWISE_TAPS; tap++) {
        const int64_t y = row + tap / 3 - 1, x = column + tap % 3 - 1;
        if (y < 0 || y >= dim[1] || x < 0 || x >= dim[2]) continue;
        const int64_t weight = c * ZN_DEPTHWISE_TAPS +
                               (is_turned(node) ? ZN_DEPTHWISE_TAPS - 1 - tap : tap);
        sum += (double)zn_value_get(&inputs[0],
                                    (size_t)(((n * dim[1] + y) * dim[2] + x) * dim[3] + c)) *
               (double)zn_value_get(&inputs[1], (size_t)weight);
    }
    return sum;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = output->desc.shape.dim;
    for (int64_t i = 0; i < (int64_t)zn_value_count(output); i++) {
        const int64_t c = i % dim[3], x = i / dim[3] % dim[2], row = i / (dim[3] * dim[2]);
        zn_value_set(output, (size_t)i,
                     (float)window(node, inputs, row / dim[1], row % dim[1], x, c));
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct depthwise_lowering {
    zn_lowering base;
    zn_depthwise_fn *kernel;
    zn_depthwise_args args;
} depthwise_lowering;

static void run_row(const zn_lowering *base, const zn_call *call, size_t row, void *scratch)
{
    (void)scratch;
    const depthwise_lowering *l = (const depthwise_lowering *)base;
    zn_depthwise_args args = l->args;
    const size_t line = (size_t)(args.width * args.channels);
    const size_t from = line * zn_type_size(args.src_type), to = line * zn_type_size(args.dst_type);
    for (size_t i = 0; i < 3; i++)
        args.src[i] = (const uint8_t *)call->inputs[0] + (row + i) * from;
    args.dst = (uint8_t *)call->output + row * to;
    l->kernel(&args);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[0]->desc;
    const float *weights = NULL;
    ZN_TRY(zn_depthwise_pack(request->packs, &node->inputs[1]->constant, is_turned(node), x->scale,
                             &weights, err));
    const depthwise_lowering made = {.base = ZN_LOWERING_OF_PIECES(run_row, "depthwise"),
                                     .kernel = request->kernels->depthwise,
                                     .args = {.src_type = x->type,
                                              .dst_type = node->desc.type,
                                              .weights = weights,
                                              .width = x->shape.dim[2],
                                              .channels = x->shape.dim[3]}};
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == 1)
        return zn_graph_pair(graph, &zn_op_depthwise_backward_weights, node->name, node->inputs[0],
                             dy, NULL);
    const zn_depthwise_attributes turned = {.turned = !is_turned(node)};
    return zn_graph_pair(graph, &zn_op_depthwise_conv, node->name, dy, node->inputs[1], &turned);
}

static const zn_depthwise_attributes plain = {false};

const zn_op zn_op_depthwise_conv = {
    .name = "depthwise_conv",
    .summary = "3x3 convolution of each channel by itself",
    .attributes_size = sizeof(zn_depthwise_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .work = 2 * ZN_DEPTHWISE_TAPS,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &plain, 2, ZN_MAP(1, 1, 3), {4, {3, 1, 3, 3}}),
                          ZN_SAMPLE("odd", &plain, 2, ZN_MAP(5, 7, 20), {4, {20, 1, 3, 3}}),
                          ZN_SAMPLE("column", &plain, 2, ZN_MAP(6, 2, 32), {4, {32, 1, 3, 3}}),
                          ZN_SAMPLE("wide", &plain, 2, ZN_MAP(4, 37, 64), {4, {64, 1, 3, 3}})),
};

zn_node *zn_depthwise_conv(zn_graph *graph, const char *name, zn_node *x, zn_node *weight)
{
    return zn_graph_pair(graph, &zn_op_depthwise_conv, name, x, weight, &plain);
}

enum { X, DY, INPUTS };

static zenith_status gradient_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_two_maps(node, err));
    ZN_TRY(zn_check_wide_floats(node, X, err));
    ZN_TRY(zn_check_wide_floats(node, DY, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(node->desc.shape.dim[3], ZN_DEPTHWISE_TAPS));
    return ZENITH_OK;
}

static zn_rows gradient_rows(const zn_node *node, int input, zn_rows out)
{
    const int64_t height = node->inputs[X]->desc.shape.dim[1];
    (void)out;
    return input == X ? (zn_rows){-1, height + 1} : (zn_rows){0, height};
}

static void gradient_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = inputs[X].desc.shape.dim;
    (void)node;
    for (int64_t k = 0; k < dim[3] * ZN_DEPTHWISE_TAPS; k++) {
        const int64_t c = k / ZN_DEPTHWISE_TAPS, tap = k % ZN_DEPTHWISE_TAPS;
        double sum = 0;
        for (int64_t i = 0; i < dim[0] * dim[1] * dim[2]; i++) {
            const int64_t row = i / dim[2], x = i % dim[2] + tap % 3 - 1;
            const int64_t y = row % dim[1] + tap / 3 - 1;
            if (y < 0 || y >= dim[1] || x < 0 || x >= dim[2]) continue;
            const int64_t from = ((row / dim[1] * dim[1] + y) * dim[2] + x) * dim[3] + c;
            sum += (double)zn_value_get(&inputs[X], (size_t)from) *
                   (double)zn_value_get(&inputs[DY], (size_t)(i * dim[3] + c));
        }
        zn_value_set(output, (size_t)k, (float)sum);
    }
}

// --- lowering: gradient_rows in order, each summed in f32, all in double ------------------------

typedef struct sums_lowering {
    zn_lowering base;
    zn_depthwise_sums_fn *kernel;
    zn_depthwise_sums_args args;
    int64_t height;
    float scale;
} sums_lowering;

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const sums_lowering *l = (const sums_lowering *)base;
    const size_t count = (size_t)l->args.channels * ZN_DEPTHWISE_TAPS;
    const size_t line = (size_t)(l->args.width * l->args.channels);
    double *sums = call->scratch;
    zn_depthwise_sums_args args = l->args;
    args.sums = (float *)(void *)(sums + count);
    for (size_t i = 0; i < count; i++) sums[i] = 0;
    for (size_t row = 0; row < (size_t)l->height; row++) {
        args.src = (const char *)call->inputs[X] + row * line * zn_type_size(args.src_type);
        args.dy = (const char *)call->inputs[DY] + row * line * zn_type_size(args.dy_type);
        l->kernel(&args);
        for (size_t i = 0; i < count; i++) sums[i] += (double)args.sums[i];
    }
    float *dst = call->output;
    for (size_t i = 0; i < count; i++) { // [9, c] to [c, 9]
        const size_t from = i % ZN_DEPTHWISE_TAPS * (size_t)l->args.channels +
                            i / ZN_DEPTHWISE_TAPS;
        dst[i] = (float)sums[from] * l->scale;
    }
    return ZENITH_OK;
}

static zenith_status gradient_lower(const zn_lowering_request *request, zn_lowering **out,
                                    zn_error *err)
{
    const zn_desc *x = &request->node->inputs[X]->desc, *dy = &request->node->inputs[DY]->desc;
    const size_t count = (size_t)x->shape.dim[3] * ZN_DEPTHWISE_TAPS;
    const sums_lowering made = {.base = {.run = run,
                                         .free = zn_lowering_free,
                                         .id = "depthwise",
                                         .scratch_bytes = count * (sizeof(double) + sizeof(float))},
                                .kernel = request->kernels->depthwise_sums,
                                .args = {.src_type = x->type,
                                         .dy_type = dy->type,
                                         .width = x->shape.dim[2],
                                         .channels = x->shape.dim[3]},
                                .height = x->shape.dim[1],
                                .scale = x->scale * dy->scale};
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static double flops(const zn_node *node)
{
    size_t elements = 0;
    if (!zn_shape_elements(&node->inputs[X]->desc.shape, &elements)) return 0;
    return 2.0 * ZN_DEPTHWISE_TAPS * (double)elements;
}

const zn_op zn_op_depthwise_backward_weights = {
    .name = "depthwise_backward_weights",
    .summary = "the gradient of a depthwise convolution with respect to its weights",
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = gradient_infer,
    .rows = gradient_rows,
    .reference = gradient_reference,
    .lower = gradient_lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 20), ZN_MAP(5, 7, 20)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(4, 37, 64), ZN_MAP(4, 37, 64))),
};
