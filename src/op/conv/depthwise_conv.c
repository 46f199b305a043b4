// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise 3x3 convolution with zero padding: each channel by itself. Turned, it is its own gradient:
// the same with the nine weights in the opposite order.
#include "src/base/memory.h"
#include "src/kernel/kernels.h"
#include "src/op/conv/depthwise_weights.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

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

typedef struct job {
    const depthwise_lowering *lowering;
    const zn_call *call;
} job;

static void run_rows(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    zn_depthwise_args args = j->lowering->args;
    const size_t line = (size_t)(args.width * args.channels);
    const size_t from = line * zn_type_size(args.src_type), to = line * zn_type_size(args.dst_type);
    for (size_t row = begin; row < end; row++) {
        for (size_t i = 0; i < 3; i++)
            args.src[i] = (const uint8_t *)j->call->inputs[0] + (row + i) * from;
        args.dst = (uint8_t *)j->call->output + row * to;
        j->lowering->kernel(&args);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    job j = {(const depthwise_lowering *)base, call};
    zn_parallel(call->team, (size_t)call->rows, 1, run_rows, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[0]->desc;
    const float *weights = NULL;
    ZN_TRY(zn_depthwise_pack(request->packs, &node->inputs[1]->constant, is_turned(node), x->scale,
                             &weights, err));
    depthwise_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    *l = (depthwise_lowering){.base = {.run = run, .free = zn_lowering_free, .id = "depthwise"},
                              .kernel = request->kernels->depthwise,
                              .args = {.src_type = x->type,
                                       .dst_type = node->desc.type,
                                       .weights = weights,
                                       .width = x->shape.dim[2],
                                       .channels = x->shape.dim[3]}};
    *out = &l->base;
    return ZENITH_OK;
}

static double flops(const zn_node *node)
{
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return 2.0 * ZN_DEPTHWISE_TAPS * (double)elements;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == 1) return zn_depthwise_backward_weights(graph, node->name, node->inputs[0], dy);
    const zn_depthwise_attributes turned = {.turned = !is_turned(node)};
    return zn_graph_add(graph, &zn_op_depthwise_conv, node->name,
                        (zn_node *[]){dy, node->inputs[1]}, 2, &turned);
}

static const zn_depthwise_attributes plain = {false};
#define SAMPLE(label, h, w, c)                                                                     \
    {                                                                                              \
        .name = label, .inputs_count = 2, .inputs = {{4, {1, h, w, c}}, {4, {c, 1, 3, 3}}},        \
        .parameters = 2, .attributes = &plain                                                      \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", 1, 1, 3),
    SAMPLE("odd", 5, 7, 20),
    SAMPLE("column", 6, 2, 32),
    SAMPLE("wide", 4, 37, 64),
};

const zn_op zn_op_depthwise_conv = {
    .name = "depthwise_conv",
    .summary = "3x3 convolution of each channel by itself",
    .attributes_size = sizeof(zn_depthwise_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_depthwise_conv(zn_graph *graph, const char *name, zn_node *x, zn_node *weight)
{
    return zn_graph_add(graph, &zn_op_depthwise_conv, name, (zn_node *[]){x, weight}, 2, &plain);
}
