// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a convolution with respect to its weights, in f32, [out, in * kh * kw]: for each
// tap the sum over all pixels of the outer product of dy and the pixel of x under that tap.
#include "src/op/conv/weight_gradient.h"
#include "src/op/operator.h"

enum { X, DY, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_map(node, DY, err));
    const int64_t *x = node->inputs[X]->desc.shape.dim, *dy = node->inputs[DY]->desc.shape.dim;
    const int64_t room_h = x[1] + 2 * (int64_t)a->pad + a->after - a->kernel_h;
    const int64_t room_w = x[2] + 2 * (int64_t)a->pad + a->after - a->kernel_w;
    if (a->stride < 1 || a->pad < 0 || a->after < 0 || a->kernel_h < 1 || a->kernel_w < 1 ||
        x[0] != dy[0] || room_h < 0 || room_w < 0 || dy[1] != room_h / a->stride + 1 ||
        dy[2] != room_w / a->stride + 1)
        return zn_fail(err, ZENITH_INTERNAL, "conv2d_backward_weights: maps that do not fit");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(dy[3], x[3] * a->kernel_h * a->kernel_w));
    return ZENITH_OK;
}

// Every row, and those of the padding above and below x.
static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    const int64_t under = node->inputs[DY]->desc.shape.dim[1];
    (void)out;
    if (input == DY) return (zn_rows){0, under};
    return (zn_rows){-a->pad, (under - 1) * a->stride - a->pad + a->kernel_h};
}

// The sum for one weight: output channel o, input channel i, tap (top, left).
static double tap_sum(const zn_node *node, const zn_tensor *x, const zn_tensor *dy, int64_t o,
                      int64_t i, int64_t top, int64_t left)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    const int64_t *xd = x->desc.shape.dim, *yd = dy->desc.shape.dim;
    double sum = 0;
    for (int64_t n = 0; n < yd[0]; n++) {
        for (int64_t h = 0; h < yd[1]; h++) {
            for (int64_t w = 0; w < yd[2]; w++) {
                const int64_t row = h * a->stride - a->pad + top;
                const int64_t column = w * a->stride - a->pad + left;
                if (row < 0 || row >= xd[1] || column < 0 || column >= xd[2]) continue;
                const int64_t from = ((n * xd[1] + row) * xd[2] + column) * xd[3] + i;
                const int64_t to = ((n * yd[1] + h) * yd[2] + w) * yd[3] + o;
                sum += (double)zn_value_get(x, (size_t)from) * (double)zn_value_get(dy, (size_t)to);
            }
        }
    }
    return sum;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    const int64_t out = inputs[DY].desc.shape.dim[3], in = inputs[X].desc.shape.dim[3];
    size_t next = 0;
    for (int64_t o = 0; o < out; o++) {
        for (int64_t i = 0; i < in; i++) {
            for (int64_t tap = 0; tap < a->kernel_h * a->kernel_w; tap++) {
                double sum = tap_sum(node, &inputs[X], &inputs[DY], o, i, tap / a->kernel_w,
                                     tap % a->kernel_w);
                zn_value_set(output, next++, (float)sum);
            }
        }
    }
}

// --- by the kernel ------------------------------------------------------------------------------

typedef struct weights_lowering {
    zn_lowering base;
    zn_weight_gradient gradient;
} weights_lowering;

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const weights_lowering *l = (const weights_lowering *)base;
    zn_weight_gradient_run(&l->gradient, call, call->output, call->scratch);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_conv2d_backward_attributes *a = request->node->attributes;
    const zn_conv_weight_gradient_args shape = {.kernel_h = (int)a->kernel_h,
                                                .kernel_w = (int)a->kernel_w,
                                                .stride = a->stride,
                                                .pad_left = a->pad};
    weights_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    zenith_status status = zn_weight_gradient_prepare(request, X, DY, &shape, &l->gradient, err);
    if (status != ZENITH_OK) {
        zn_free(l);
        return status;
    }
    l->base = (zn_lowering){.run = run,
                            .free = zn_lowering_free,
                            .scratch_bytes = l->gradient.scratch_bytes,
                            .id = "weight_gradient"};
    *out = &l->base;
    return ZENITH_OK;
}

static double flops(const zn_node *node)
{
    const int64_t *dy = node->inputs[DY]->desc.shape.dim;
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return 2.0 * (double)elements * (double)dy[0] * (double)dy[1] * (double)dy[2];
}

static const zn_conv2d_backward_attributes same_1 = {1, 1, false, 1, 1, 3, 3, 0},
                                           same = {1, 1, false, 5, 7, 3, 3, 0},
                                           point = {1, 0, false, 3, 9, 1, 1, 0},
                                           half = {2, 1, false, 9, 12, 3, 3, 0},
                                           skip = {2, 0, false, 6, 5, 1, 1, 0},
                                           wide = {1, 1, false, 4, 37, 3, 3, 0},
                                           down = {2, 0, false, 6, 8, 3, 3, 1};

const zn_op zn_op_conv2d_backward_weights = {
    .name = "conv2d_backward_weights",
    .summary = "the gradient of a convolution with respect to its weights",
    .attributes_size = sizeof(zn_conv2d_backward_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = rows,
    .wants = zn_wants_two_factors,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &same_1, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("odd", &same, 0, ZN_MAP(5, 7, 4), ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("point", &point, 0, ZN_MAP(3, 9, 64), ZN_MAP(3, 9, 4)),
                          ZN_SAMPLE("half", &half, 0, ZN_MAP(9, 12, 3), ZN_MAP(5, 6, 64)),
                          ZN_SAMPLE("skip", &skip, 0, ZN_MAP(6, 5, 12), ZN_MAP(3, 3, 16)),
                          ZN_SAMPLE("wide", &wide, 0, ZN_MAP(4, 37, 64), ZN_MAP(4, 37, 64)),
                          ZN_SAMPLE("down", &down, 0, ZN_MAP(6, 8, 16), ZN_MAP(3, 4, 32))),
};
