// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// min(max(x, low), high): what variational encoders do to the logarithm of a variance.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_clamp_attributes *a = node->attributes;
    if (!(a->low < a->high)) return zn_fail(err, ZENITH_INTERNAL, "clamp needs low < high");
    return zn_infer_one_map(node, err);
}

static float clamped(const zn_node *node, float x)
{
    const zn_clamp_attributes *a = node->attributes;
    return x < a->low ? a->low : x > a->high ? a->high : x;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++)
        zn_value_set(output, i, clamped(node, zn_value_get(&inputs[0], i)));
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) dst[i] = clamped(node, inputs[0][i]);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_add(graph, &zn_op_clamp_gradient, node->name,
                        (zn_node *[]){dy, node->inputs[input]}, 2, node->attributes);
}

static const zn_clamp_attributes above = {-0.1f, 50}, below = {-50, 0.1f}, wide = {-30, 20};
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 4}}}, .attributes = &above},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 3}}}, .attributes = &above},
    {.name = "below", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 3}}}, .attributes = &below},
    {.name = "wide", .inputs_count = 1, .inputs = {{4, {1, 3, 9, 16}}}, .attributes = &wide},
};

const zn_op zn_op_clamp = {
    .name = "clamp",
    .summary = "x, but at least one number and at most another",
    .attributes_size = sizeof(zn_clamp_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_clamp(zn_graph *graph, const char *name, zn_node *x, float low, float high)
{
    return zn_graph_add(graph, &zn_op_clamp, name, &x, 1, &(zn_clamp_attributes){low, high});
}
