// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// max(x, 0). A NaN stays NaN. Nearly always fused into a convolution; see conv2d_fused.c.
#include "src/kernel/pointwise/elementwise.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        float x = zn_value_get(&inputs[0], i);
        zn_value_set(output, i, x < 0 ? 0 : x);
    }
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    zn_relu_f32(inputs[0], dst, zn_row_elements(node));
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)input;
    return zn_relu_gradient(graph, node->name, dy, graph->nodes[node->id]);
}

static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 1}}}},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 3}}}},
    {.name = "wide", .inputs_count = 1, .inputs = {{4, {1, 3, 17, 64}}}},
};

const zn_op zn_op_relu = {
    .name = "relu",
    .summary = "max(x, 0)",
    .result_types = ZN_MAP_TYPES,
    .infer = zn_infer_one_map,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_relu(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_relu, name, &x, 1, NULL);
}
