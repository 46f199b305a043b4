// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of soft_clip: dy / cosh(x / limit)^2. From x and not from the result, which a short
// type rounds to the limit itself.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { DY, X, INPUTS };

static float derivative(const zn_node *node, float x)
{
    const zn_soft_clip_attributes *a = node->attributes;
    const float c = coshf(x / a->limit);
    return 1 / (c * c);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        float x = zn_value_get(&inputs[X], i);
        zn_value_set(output, i, zn_value_get(&inputs[DY], i) * derivative(node, x));
    }
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) dst[i] = inputs[DY][i] * derivative(node, inputs[X][i]);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

// About what a hyperbolic cosine takes.
static double flops(const zn_node *node)
{
    size_t elements = 0;
    return zn_shape_elements(&node->desc.shape, &elements) ? 20.0 * (double)elements : 0;
}

static const zn_soft_clip_attributes three = {3};
static const zn_op_sample samples[] = {
    {.name = "pixel",
     .inputs_count = 2,
     .inputs = {{4, {1, 1, 1, 4}}, {4, {1, 1, 1, 4}}},
     .attributes = &three},
    {.name = "odd",
     .inputs_count = 2,
     .inputs = {{4, {1, 5, 7, 4}}, {4, {1, 5, 7, 4}}},
     .attributes = &three},
};

const zn_op zn_op_soft_clip_gradient = {
    .name = "soft_clip_gradient",
    .summary = "the gradient times 1 / cosh(x / limit)^2",
    .attributes_size = sizeof(zn_soft_clip_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = zn_infer_two_maps,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_soft_clip_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *x,
                               float limit)
{
    return zn_graph_add(graph, &zn_op_soft_clip_gradient, name, (zn_node *[]){dy, x}, INPUTS,
                        &(zn_soft_clip_attributes){limit});
}
