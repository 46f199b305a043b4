// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a depthwise 3x3 convolution with respect to its weights, in f32, [c, 9].
#include "src/kernel/conv/depthwise.h"
#include "src/kernel/kernels.h"
#include "src/op/operator.h"

enum { X, DY, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_two_maps(node, err));
    ZN_TRY(zn_check_wide_floats(node, X, err));
    ZN_TRY(zn_check_wide_floats(node, DY, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(node->desc.shape.dim[3], ZN_DEPTHWISE_TAPS));
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const int64_t height = node->inputs[X]->desc.shape.dim[1];
    (void)out;
    return input == X ? (zn_rows){-1, height + 1} : (zn_rows){0, height};
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
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

// --- lowering: rows in order, each summed in f32, all in double -----------------------------------

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

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
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
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 20), ZN_MAP(5, 7, 20)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(4, 37, 64), ZN_MAP(4, 37, 64))),
};
