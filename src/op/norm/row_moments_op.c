// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Sum and sum of squares of each row and group of channels, in double: the part of a group norm
// that can be computed row by row, with the same bits however rows are handed out.

#include "src/base/memory.h"
#include "src/kernel/kernels.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

typedef struct moments_lowering {
    zn_lowering base;
    const zn_node *node;
    zn_row_moments_fn *kernel;
} moments_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_row_moments_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const int64_t *x = node->inputs[0]->desc.shape.dim;
    if (a->groups < 1 || x[3] % a->groups != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%lld channels do not divide into %d groups",
                       (long long)x[3], a->groups);
    node->desc = zn_desc_make(ZN_F64, ZN_SHAPE(x[0], x[1], a->groups, 2));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_row_moments_attributes *a = node->attributes;
    const int64_t *x = inputs[0].desc.shape.dim;
    double *moments = output->data;
    size_t next = 0;
    for (int64_t i = 0; i < x[0] * x[1] * 2 * a->groups; i++) moments[i] = 0;
    for (int64_t row = 0; row < x[0] * x[1]; row++) {
        for (int64_t column = 0; column < x[2]; column++) {
            for (int64_t c = 0; c < x[3]; c++) {
                double value = (double)zn_value_get(&inputs[0], next++);
                double *pair = moments + 2 * (row * a->groups + c / (x[3] / a->groups));
                pair[0] += value;
                pair[1] += value * value;
            }
        }
    }
}

typedef struct job {
    const moments_lowering *lowering;
    const zn_call *call;
} job;

static void moments_rows(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const moments_lowering *l = j->lowering;
    const zn_row_moments_attributes *a = l->node->attributes;
    const zn_desc *x = &l->node->inputs[0]->desc;
    const int64_t width = x->shape.dim[2], channels = x->shape.dim[3];
    size_t row_bytes = (size_t)(width * channels) * zn_type_size(x->type);
    for (size_t row = begin; row < end && !zn_call_stopped(j->call); row++) {
        l->kernel(x->type, x->scale, (const uint8_t *)j->call->inputs[0] + row * row_bytes, width,
                  channels, a->groups, (double *)j->call->output + row * 2 * (size_t)a->groups);
    }
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const moments_lowering *l = (const moments_lowering *)base;
    job j = {l, call};
    zn_parallel(call->team, (size_t)call->rows, 1, moments_rows, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    moments_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    *l = (moments_lowering){
        .base = {.run = run, .free = zn_lowering_free, .any_rows = true, .id = "kernel"},
        .node = request->node,
        .kernel = request->kernels->row_moments};
    *out = &l->base;
    return ZENITH_OK;
}

static double flops(const zn_node *node)
{
    size_t elements = 0;
    if (!zn_shape_elements(&node->inputs[0]->desc.shape, &elements)) return 0;
    return 3.0 * (double)elements;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_add(graph, &zn_op_row_moments_gradient, node->name,
                        (zn_node *[]){node->inputs[input], dy}, 2, NULL);
}

static const zn_row_moments_attributes one = {1}, four = {4}, many = {32};
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 3}}}, .attributes = &one},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 12}}}, .attributes = &four},
    {.name = "wide", .inputs_count = 1, .inputs = {{4, {1, 4, 37, 64}}}, .attributes = &many},
};

const zn_op zn_op_row_moments = {
    .name = "row_moments",
    .summary = "sum and sum of squares of each row and group of channels",
    .attributes_size = sizeof(zn_row_moments_attributes),
    .traits = ZN_OP_FIXED,
    .result_types = ZN_BIT(ZN_F64),
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
