// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of relu: dy where the result y was positive, else 0.
#include "src/kernel/pointwise/elementwise.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/pointwise/masked_sum_lowering.h"
#include "src/op/row_lowering.h"

enum { DY, Y, INPUTS };

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        bool passes = zn_value_get(&inputs[Y], i) > 0;
        zn_value_set(output, i, passes ? zn_value_get(&inputs[DY], i) : 0);
    }
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    zn_relu_gradient_f32(inputs[DY], inputs[Y], dst, zn_row_elements(node));
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    if (zn_masked_sum_fits(request->node)) return zn_masked_sum_lower(request, -1, Y, out, err);
    return zn_row_lower(request, 1, row, out, err);
}

static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 2, .inputs = {{4, {1, 1, 1, 3}}, {4, {1, 1, 1, 3}}}},
    {.name = "odd", .inputs_count = 2, .inputs = {{4, {1, 5, 7, 3}}, {4, {1, 5, 7, 3}}}},
    {.name = "wide", .inputs_count = 2, .inputs = {{4, {1, 3, 17, 64}}, {4, {1, 3, 17, 64}}}},
};

const zn_op zn_op_relu_gradient = {
    .name = "relu_gradient",
    .summary = "the gradient where relu's result was positive, else 0",
    .result_types = ZN_MAP_TYPES,
    .infer = zn_infer_two_maps,
    .reference = reference,
    .lower = lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_relu_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *y)
{
    return zn_graph_add(graph, &zn_op_relu_gradient, name, (zn_node *[]){dy, y}, INPUTS, NULL);
}
