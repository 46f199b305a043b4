// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a convolution with respect to its weights, in f32, [out, in * kh * kw]: for each
// tap the sum over all pixels of the outer product of dy and the pixel of x under that tap.
#include "src/base/memory.h"
#include "src/kernel/outer_sum.h"
#include "src/op/convert_parallel.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <string.h>

enum { X, DY, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_map(node, DY, err));
    const int64_t *x = node->inputs[X]->desc.shape.dim, *dy = node->inputs[DY]->desc.shape.dim;
    const int64_t room_h = x[1] + 2 * (int64_t)a->pad - a->kernel_h;
    const int64_t room_w = x[2] + 2 * (int64_t)a->pad - a->kernel_w;
    if (a->stride < 1 || a->pad < 0 || a->kernel_h < 1 || a->kernel_w < 1 || x[0] != dy[0] ||
        room_h < 0 || room_w < 0 || dy[1] != room_h / a->stride + 1 ||
        dy[2] != room_w / a->stride + 1)
        return zn_fail(err, ZENITH_INTERNAL, "conv2d_backward_weights: maps that do not fit");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(dy[3], x[3] * a->kernel_h * a->kernel_w));
    return ZENITH_OK;
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

// --- in f32, row by row -------------------------------------------------------------------------
//
// Part p of the threads has every so many blocks of output channels, for all rows: each sum is made
// by one thread, in the order of rows.

enum { BLOCK = 16 }; // output channels

typedef struct weights_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_conversion widen[INPUTS];
    size_t parts, part_bytes; // scratch: of each part a row of x, one of dy, and the sums
    size_t dy_at, sums_at;    // offsets in a part
    size_t row_count[INPUTS]; // elements
    size_t row_bytes[INPUTS];
} weights_lowering;

typedef struct job {
    const weights_lowering *lowering;
    const zn_call *call;
} job;

static const float *take_row(const weights_lowering *l, const zn_call *call, int input, int64_t row,
                             uint8_t *wide)
{
    const uint8_t *src = (const uint8_t *)call->inputs[input] + (size_t)row * l->row_bytes[input];
    const zn_conversion *c = &l->widen[input];
    if (c->from == ZN_F32 && c->from_scale == 1.0f) return (const float *)(const void *)src;
    c->run(src, c->from_scale, wide, 1, l->row_count[input]);
    return (const float *)(void *)wide;
}

// What one row of x and one of dy, under row `top` of the kernel, add to the sums [kw][out][in] of a
// block of output channels.
static void add_row(const zn_node *node, const float *x, const float *dy, int64_t block,
                    float *sums)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    const int64_t *xd = node->inputs[X]->desc.shape.dim, *yd = node->inputs[DY]->desc.shape.dim;
    for (int64_t left = 0; left < a->kernel_w; left++, sums += block * xd[3]) {
        const int64_t shift = left - a->pad; // column of x under dy's column 0
        int64_t begin = shift < 0 ? (-shift + a->stride - 1) / a->stride : 0;
        int64_t end = (xd[2] - shift + a->stride - 1) / a->stride;
        if (end > yd[2]) end = yd[2];
        if (begin >= end) continue;
        zn_outer_sum_f32(dy + begin * yd[3], yd[3], block, x + (begin * a->stride + shift) * xd[3],
                         a->stride * xd[3], xd[3], end - begin, sums);
    }
}

// [kh][kw][block][in] to the result's [block][in][kh][kw].
static void store_block(const zn_node *node, const float *sums, int64_t block, float *dst)
{
    const zn_conv2d_backward_attributes *a = node->attributes;
    const int64_t in = node->inputs[X]->desc.shape.dim[3], taps = a->kernel_h * a->kernel_w;
    for (int64_t tap = 0; tap < taps; tap++) {
        for (int64_t k = 0; k < block * in; k++) dst[k * taps + tap] = *sums++;
    }
}

static void compute_block(const weights_lowering *l, const zn_call *call, int64_t first,
                          int64_t block, uint8_t *part)
{
    const zn_conv2d_backward_attributes *a = l->node->attributes;
    const int64_t *xd = l->node->inputs[X]->desc.shape.dim;
    const int64_t rows = l->node->inputs[DY]->desc.shape.dim[1];
    const int64_t taps = a->kernel_h * a->kernel_w;
    float *sums = (float *)(void *)(part + l->sums_at);
    memset(sums, 0, (size_t)(taps * block * xd[3]) * sizeof *sums);
    for (int64_t row = 0; row < rows; row++) {
        const float *dy = take_row(l, call, DY, row, part + l->dy_at);
        for (int64_t top = 0; top < a->kernel_h; top++) {
            const int64_t at = row * a->stride - a->pad + top;
            if (at < 0 || at >= xd[1]) continue;
            const float *x = take_row(l, call, X, at, part);
            add_row(l->node, x, dy + first, block, sums + top * a->kernel_w * block * xd[3]);
        }
    }
    store_block(l->node, sums, block, (float *)call->output + first * xd[3] * taps);
}

static void run_part(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const weights_lowering *l = j->lowering;
    const int64_t out = l->node->inputs[DY]->desc.shape.dim[3];
    for (size_t p = begin; p < end; p++) {
        uint8_t *part = (uint8_t *)j->call->scratch + p * l->part_bytes;
        for (int64_t o = (int64_t)p * BLOCK; o < out; o += (int64_t)l->parts * BLOCK)
            compute_block(l, j->call, o, out - o < BLOCK ? out - o : BLOCK, part);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const weights_lowering *l = (const weights_lowering *)base;
    job j = {l, call};
    zn_parallel(call->team, l->parts, 1, run_part, &j);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    zn_free(base);
}

static zenith_status prepare(weights_lowering *l, const zn_lowering_request *request, zn_error *err)
{
    const zn_conv2d_backward_attributes *a = request->node->attributes;
    for (int i = 0; i < INPUTS; i++) {
        const zn_desc *desc = &request->node->inputs[i]->desc;
        l->row_count[i] = zn_row_elements(request->node->inputs[i]);
        l->row_bytes[i] = l->row_count[i] * zn_type_size(desc->type);
        ZN_TRY(zn_conversion_make(request->cpu.isa, desc->type, desc->scale, ZN_F32, 1,
                                  &l->widen[i], err));
    }
    const size_t in = (size_t)request->node->inputs[X]->desc.shape.dim[3];
    const size_t taps = (size_t)(a->kernel_h * a->kernel_w);
    l->dy_at = zn_round_up(l->row_count[X] * sizeof(float), ZN_ALIGN);
    l->sums_at = l->dy_at + zn_round_up(l->row_count[DY] * sizeof(float), ZN_ALIGN);
    l->part_bytes = l->sums_at + zn_round_up(taps * BLOCK * in * sizeof(float), ZN_ALIGN);
    l->parts = (size_t)request->threads;
    l->base.scratch_bytes = l->parts * l->part_bytes;
    return ZENITH_OK;
}

static zenith_status lower_rows(const zn_lowering_request *request, zn_lowering **out,
                                zn_error *err)
{
    weights_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){.run = run, .free = lowering_free, .id = "rows"};
    l->node = request->node;
    zenith_status status = prepare(l, request, err);
    if (status != ZENITH_OK)
        zn_free(l);
    else
        *out = &l->base;
    return status;
}

// The choice of an algorithm, by types, channels and CPU.
static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return lower_rows(request, out, err);
}

static double flops(const zn_node *node)
{
    const int64_t *dy = node->inputs[DY]->desc.shape.dim;
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return 2.0 * (double)elements * (double)dy[0] * (double)dy[1] * (double)dy[2];
}

static const zn_conv2d_backward_attributes same_1 = {1, 1, false, 1, 1, 3, 3},
                                           same = {1, 1, false, 5, 7, 3, 3},
                                           point = {1, 0, false, 3, 9, 1, 1},
                                           half = {2, 1, false, 9, 12, 3, 3},
                                           skip = {2, 0, false, 6, 5, 1, 1},
                                           wide = {1, 1, false, 4, 37, 3, 3};
#define SAMPLE(label, attribute, h, w, ci, ho, wo, co)                                             \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS,                                                     \
        .inputs = {{4, {1, h, w, ci}}, {4, {1, ho, wo, co}}}, .attributes = &(attribute)           \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", same_1, 1, 1, 3, 1, 1, 4), SAMPLE("odd", same, 5, 7, 4, 5, 7, 3),
    SAMPLE("point", point, 3, 9, 64, 3, 9, 4), SAMPLE("half", half, 9, 12, 3, 5, 6, 64),
    SAMPLE("skip", skip, 6, 5, 12, 3, 3, 16),  SAMPLE("wide", wide, 4, 37, 64, 4, 37, 64),
};

const zn_op zn_op_conv2d_backward_weights = {
    .name = "conv2d_backward_weights",
    .summary = "the gradient of a convolution with respect to its weights",
    .attributes_size = sizeof(zn_conv2d_backward_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER | ZN_OP_PRODUCT,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_conv2d_backward_weights(zn_graph *graph, const char *name, zn_node *x, zn_node *dy,
                                    const zn_node *conv)
{
    const zn_conv2d_backward_attributes a = zn_conv2d_backward_of(conv);
    return zn_graph_add(graph, &zn_op_conv2d_backward_weights, name, (zn_node *[]){x, dy}, INPUTS,
                        &a);
}
