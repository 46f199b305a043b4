// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of the weights of a 3x3 convolution that read a map doubled by upsample2, from the
// map before that: the doubled one need not be kept, nor read. Pixel m of the small map was under
// tap k of the outputs 2m + s + 1 - k, s being 0 and 1. So with
//
//     wide[t] = sum over m of x[m] * dy[2m + t - 1],  t below 4, rows and columns alike
//
// the gradient of tap k is wide[2 - k] + wide[3 - k]. And wide is the gradient of the weights of a
// 4x4 convolution with stride 2 that makes x of dy: 4/9 of the work.
#include "src/op/conv/weight_gradient.h"
#include "src/op/operator.h"

enum { X, DY, INPUTS, TAPS = 9, WIDE = 4, WIDE_TAPS = 16 };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_map(node, DY, err));
    const int64_t *x = node->inputs[X]->desc.shape.dim, *dy = node->inputs[DY]->desc.shape.dim;
    if (x[0] != dy[0] || dy[1] % 2 != 0 || dy[1] / 2 != x[1] || dy[2] % 2 != 0 || dy[2] / 2 != x[2])
        return zn_fail(err, ZENITH_INTERNAL,
                       "upsample2_conv_backward_weights: maps that do not fit");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(dy[3], x[3] * TAPS));
    return ZENITH_OK;
}

// Every row, and those of the padding above and below dy.
static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const int64_t height = node->inputs[X]->desc.shape.dim[1];
    (void)out;
    if (input == X) return (zn_rows){0, height};
    return (zn_rows){-1, 2 * height + 1};
}

// The sum for one weight: output channel o, input channel i, tap (top, left).
static double tap_sum(const zn_tensor *x, const zn_tensor *dy, int64_t o, int64_t i, int64_t top,
                      int64_t left)
{
    const int64_t *xd = x->desc.shape.dim, *yd = dy->desc.shape.dim;
    double sum = 0;
    for (int64_t at = 0; at < yd[0] * yd[1] * yd[2]; at++) {
        const int64_t image = at / (yd[1] * yd[2]);
        const int64_t row = at / yd[2] % yd[1] + top - 1, column = at % yd[2] + left - 1;
        if (row < 0 || row >= yd[1] || column < 0 || column >= yd[2]) continue;
        const int64_t from = ((image * xd[1] + row / 2) * xd[2] + column / 2) * xd[3] + i;
        sum += (double)zn_value_get(x, (size_t)from) *
               (double)zn_value_get(dy, (size_t)(at * yd[3] + o));
    }
    return sum;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t out = node->desc.shape.dim[0], in = inputs[X].desc.shape.dim[3];
    size_t next = 0;
    for (int64_t o = 0; o < out; o++) {
        for (int64_t i = 0; i < in; i++) {
            for (int64_t tap = 0; tap < TAPS; tap++) {
                const double sum = tap_sum(&inputs[X], &inputs[DY], o, i, tap / 3, tap % 3);
                zn_value_set(output, next++, (float)sum);
            }
        }
    }
}

// --- by the kernel ------------------------------------------------------------------------------

typedef struct weights_lowering {
    zn_lowering base;
    zn_weight_gradient gradient; // of the wide kernel
    int64_t in, out;
    size_t wide_at; // in scratch: its result, [in, out, WIDE, WIDE]
} weights_lowering;

static void fold(const float *wide, float *dw)
{
    for (int tap = 0; tap < TAPS; tap++) {
        const float *corner = wide + (2 - tap / 3) * WIDE + 2 - tap % 3;
        dw[tap] = (corner[0] + corner[1]) + (corner[WIDE] + corner[WIDE + 1]);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const weights_lowering *l = (const weights_lowering *)base;
    uint8_t *scratch = call->scratch;
    float *wide = (float *)(void *)(scratch + l->wide_at), *dw = call->output;
    zn_weight_gradient_run(&l->gradient, call, wide, scratch);
    for (int64_t i = 0; i < l->in; i++) {
        for (int64_t o = 0; o < l->out; o++, wide += WIDE_TAPS)
            fold(wide, dw + (o * l->in + i) * TAPS);
    }
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_conv_weight_gradient_args shape = {
        .kernel_h = WIDE, .kernel_w = WIDE, .stride = 2, .pad_left = 1};
    weights_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    zenith_status status = zn_weight_gradient_prepare(request, DY, X, &shape, &l->gradient, err);
    if (status != ZENITH_OK) {
        zn_free(l);
        return status;
    }
    l->in = request->node->inputs[X]->desc.shape.dim[3];
    l->out = request->node->inputs[DY]->desc.shape.dim[3];
    l->wide_at = l->gradient.scratch_bytes;
    const size_t wide = (size_t)(l->in * l->out * WIDE_TAPS) * sizeof(float);
    l->base = (zn_lowering){.run = run,
                            .free = zn_lowering_free,
                            .scratch_bytes = l->wide_at + wide,
                            .id = "weight_gradient"};
    *out = &l->base;
    return ZENITH_OK;
}

static double flops(const zn_node *node)
{
    const int64_t *x = node->inputs[X]->desc.shape.dim;
    const double pixels = (double)x[0] * (double)x[1] * (double)x[2];
    return 2.0 * WIDE_TAPS * pixels * (double)x[3] * (double)node->desc.shape.dim[0];
}

const zn_op zn_op_upsample2_conv_backward_weights = {
    .name = "upsample2_conv_backward_weights",
    .summary = "the gradient of the weights of a 3x3 convolution of a doubled map",
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = rows,
    .wants = zn_wants_two_factors,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 3), ZN_MAP(2, 2, 4)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 4), ZN_MAP(10, 14, 3)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(2, 17, 32), ZN_MAP(4, 34, 48)),
                          ZN_SAMPLE("tall", NULL, 0, ZN_MAP(18, 3, 8), ZN_MAP(36, 6, 32))),
};
