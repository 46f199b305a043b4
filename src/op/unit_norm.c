// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each pixel's channels divided by their length: x / (|x| + epsilon), |x| the root of the sum of the
// channels' squares. What perceptual distances compare: directions of features, whatever their size.
#include "src/base/memory.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

#include <math.h>

static float epsilon_of(const zn_node *node)
{
    return ((const zn_unit_norm_attributes *)node->attributes)->epsilon;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_one_map(node, err));
    if (zn_is_quantised(node->desc.type)) {
        node->desc.type = ZN_F32; // the result's scale is not the input's
        node->desc.scale = 1;
    }
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t channels = (size_t)output->desc.shape.dim[3], count = zn_value_count(output);
    for (size_t pixel = 0; pixel < count; pixel += channels) {
        double sum = 0;
        for (size_t c = 0; c < channels; c++) {
            double x = (double)zn_value_get(&inputs[0], pixel + c);
            sum += x * x;
        }
        const double length = sqrt(sum) + (double)epsilon_of(node);
        for (size_t c = 0; c < channels; c++) {
            double x = (double)zn_value_get(&inputs[0], pixel + c);
            zn_value_set(output, pixel + c, (float)(x / length));
        }
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct norm_lowering {
    zn_lowering base;
    zn_desc from, to;
    float epsilon;
} norm_lowering;

typedef struct job {
    const norm_lowering *lowering;
    const zn_call *call;
} job;

enum { LANES = 8 };

// Squares summed in LANES sums of doubles, in a fixed order: squares of floats are exact in them.
static double sum_squares(const float *x, size_t count)
{
    double sums[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (size_t k = 0; k < LANES; k++) sums[k] += (double)x[i + k] * (double)x[i + k];
    }
    for (; i < count; i++) sum += (double)x[i] * (double)x[i];
    for (size_t k = 0; k < LANES; k++) sum += sums[k];
    return sum;
}

static void norm_f32(const float *src, float *dst, size_t pixels, size_t channels, float epsilon)
{
    for (size_t p = 0; p < pixels; p++, src += channels, dst += channels) {
        const float length = (float)(sqrt(sum_squares(src, channels)) + (double)epsilon);
        for (size_t c = 0; c < channels; c++) dst[c] = src[c] / length;
    }
}

static void norm_any(const zn_tensor *src, zn_tensor *dst, size_t begin, size_t end, float epsilon)
{
    const size_t channels = (size_t)dst->desc.shape.dim[3];
    for (size_t at = begin * channels; at < end * channels; at += channels) {
        double sum = 0;
        for (size_t c = 0; c < channels; c++) {
            double x = (double)zn_value_get(src, at + c);
            sum += x * x;
        }
        const float length = (float)(sqrt(sum) + (double)epsilon);
        for (size_t c = 0; c < channels; c++) {
            zn_value_set(dst, at + c, zn_value_get(src, at + c) / length);
        }
    }
}

static void run_rows(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const norm_lowering *l = j->lowering;
    const size_t width = (size_t)l->to.shape.dim[2], channels = (size_t)l->to.shape.dim[3];
    const size_t first = begin * width * channels;
    if (l->from.type == ZN_F32 && l->from.scale == 1 && l->to.type == ZN_F32) {
        norm_f32((const float *)j->call->inputs[0] + first, (float *)j->call->output + first,
                 (end - begin) * width, channels, l->epsilon);
        return;
    }
    const zn_tensor src = {l->from, (void *)(uintptr_t)j->call->inputs[0]};
    zn_tensor dst = {l->to, j->call->output};
    norm_any(&src, &dst, begin * width, end * width, l->epsilon);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    job j = {(const norm_lowering *)base, call};
    zn_parallel(call->team, (size_t)call->rows, 1, run_rows, &j);
    return ZENITH_OK;
}

static void lowering_free(zn_lowering *base)
{
    zn_free(base);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    norm_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    *l = (norm_lowering){.base = {.run = run, .free = lowering_free, .id = "kernel"},
                         .from = request->node->inputs[0]->desc,
                         .to = request->node->desc,
                         .epsilon = epsilon_of(request->node)};
    *out = &l->base;
    return ZENITH_OK;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_unit_norm_gradient(graph, node->name, dy, node->inputs[input], epsilon_of(node));
}

static double flops(const zn_node *node)
{
    const int64_t *dim = node->desc.shape.dim;
    return 3.0 * (double)(dim[0] * dim[1] * dim[2] * dim[3]);
}

static const zn_unit_norm_attributes tiny = {1e-10f}, visible = {0.5f};
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 1}}}, .attributes = &visible},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 3}}}, .attributes = &tiny},
    {.name = "wide", .inputs_count = 1, .inputs = {{4, {1, 3, 17, 70}}}, .attributes = &visible},
};

const zn_op zn_op_unit_norm = {
    .name = "unit_norm",
    .summary = "each pixel's channels divided by their length",
    .attributes_size = sizeof(zn_unit_norm_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_unit_norm(zn_graph *graph, const char *name, zn_node *x, float epsilon)
{
    const zn_unit_norm_attributes attributes = {epsilon};
    return zn_graph_add(graph, &zn_op_unit_norm, name, &x, 1, &attributes);
}
