// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Sum and sum of squares of each row and group of channels, in double: the part of a group norm
// that can be computed row by row, with the same bits however rows are handed out.
//
// The gradient of row_moments with respect to x: d sum + 2 x d squares, of the row and group.
#include "src/kernel/kernels.h"
#include "src/kernel/norm/row_moments.h"
#include "src/op/operator.h"

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

static void moments_row(const zn_lowering *base, const zn_call *call, size_t row, void *scratch)
{
    (void)scratch;
    const moments_lowering *l = (const moments_lowering *)base;
    const zn_row_moments_attributes *a = l->node->attributes;
    const zn_desc *x = &l->node->inputs[0]->desc;
    const int64_t width = x->shape.dim[2], channels = x->shape.dim[3];
    size_t row_bytes = (size_t)(width * channels) * zn_type_size(x->type);
    l->kernel(x->type, x->scale, (const uint8_t *)call->inputs[0] + row * row_bytes, width,
              channels, a->groups, (double *)call->output + row * 2 * (size_t)a->groups);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const moments_lowering made = {.base = {.run = zn_lowering_run_all,
                                            .free = zn_lowering_free,
                                            .piece = moments_row,
                                            .any_rows = true,
                                            .id = "kernel"},
                                   .node = request->node,
                                   .kernel = request->kernels->row_moments};
    return zn_lowering_keep(&made, sizeof made, out, err);
}

static double flops(const zn_node *node)
{
    size_t elements = 0;
    if (!zn_shape_elements(&node->inputs[0]->desc.shape, &elements)) return 0;
    return 3.0 * (double)elements;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_pair(graph, &zn_op_row_moments_gradient, node->name, node->inputs[input], dy,
                         NULL);
}

static const zn_row_moments_attributes one = {1}, four = {4}, many = {32};

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
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &one, 0, ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", &four, 0, ZN_MAP(5, 7, 12)),
                          ZN_SAMPLE("wide", &many, 0, ZN_MAP(4, 37, 64))),
};

enum { X, DMOMENTS, INPUTS };

static zenith_status gradient_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_map(node, DMOMENTS, err));
    const int64_t *x = node->inputs[X]->desc.shape.dim, *m = node->inputs[DMOMENTS]->desc.shape.dim;
    if (m[0] != x[0] || m[1] != x[1] || m[3] != 2 || x[3] % m[2] != 0)
        return zn_fail(err, ZENITH_INTERNAL, "row_moments_gradient: moments of another map");
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void compute(const zn_node *node, const float *const *inputs, float *dst)
{
    const int64_t *dim = node->desc.shape.dim;
    const int64_t groups = node->inputs[DMOMENTS]->desc.shape.dim[2], size = dim[3] / groups;
    const float *x = inputs[X];
    for (int64_t p = 0; p < dim[2]; p++) {
        for (int64_t g = 0; g < groups; g++, x += size, dst += size) {
            const float sum = inputs[DMOMENTS][2 * g], twice = 2 * inputs[DMOMENTS][2 * g + 1];
            for (int64_t c = 0; c < size; c++) dst[c] = sum + x[c] * twice;
        }
    }
}

const zn_op zn_op_row_moments_gradient = {
    .name = "row_moments_gradient",
    .summary = "the gradient of each row's moments with respect to its values",
    .result_types = ZN_MAP_TYPES,
    .infer = gradient_infer,
    .row = compute,
    .lower = zn_row_lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 2)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 12), ZN_MAP(5, 4, 2)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(4, 37, 64), ZN_MAP(4, 32, 2))),
};
