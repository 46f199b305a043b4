// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// min(max(x, low), high): what variational encoders do to the logarithm of a variance. The gradient
// is dy where x lies between the bounds or on one, else 0, as PyTorch has it.
#include "src/op/operator.h"

enum { DY, X, INPUTS }; // of the gradient

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_clamp_attributes *a = node->attributes;
    if (!(a->low < a->high)) return zn_fail(err, ZENITH_INTERNAL, "clamp needs low < high");
    return zn_infer_one_map(node, err);
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const zn_clamp_attributes *a = node->attributes;
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) {
        const float x = inputs[0][i];
        dst[i] = x < a->low ? a->low : x > a->high ? a->high : x;
    }
}

static void gradient_row(const zn_node *node, const float *const *inputs, float *dst)
{
    const zn_clamp_attributes *a = node->attributes;
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++)
        dst[i] = inputs[X][i] >= a->low && inputs[X][i] <= a->high ? inputs[DY][i] : 0;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_pair(graph, &zn_op_clamp_gradient, node->name, dy, node->inputs[input],
                         node->attributes);
}

static const zn_clamp_attributes above = {-0.1f, 50}, below = {-50, 0.1f}, wide = {-30, 20},
                                 narrow = {-0.25f, 0.5f};

const zn_op zn_op_clamp = {
    .name = "clamp",
    .summary = "x, but at least one number and at most another",
    .attributes_size = sizeof(zn_clamp_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .row = row,
    .lower = zn_row_lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &above, 0, ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("odd", &above, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("below", &below, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("wide", &wide, 0, ZN_MAP(3, 9, 16))),
};

const zn_op zn_op_clamp_gradient = {
    .name = "clamp_gradient",
    .summary = "the gradient where clamp changed nothing, else 0",
    .attributes_size = sizeof(zn_clamp_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = zn_infer_two_maps,
    .row = gradient_row,
    .lower = zn_row_lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &narrow, 0, ZN_MAP(1, 1, 4), ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("odd", &narrow, 0, ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3))),
};

zn_node *zn_clamp(zn_graph *graph, const char *name, zn_node *x, float low, float high)
{
    return zn_graph_add(graph, &zn_op_clamp, name, &x, 1, &(zn_clamp_attributes){low, high});
}
