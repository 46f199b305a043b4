// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum of two maps, or of two other values in f32. Most sums of a model are fused into the
// convolution before them; see conv2d_fused.c.
#include "src/kernel/pointwise/elementwise.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/pointwise/masked_sum_lowering.h"
#include "src/op/row_lowering.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 2, err));
    ZN_TRY(zn_check_same_shape(node, 0, 1, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        zn_value_set(output, i, zn_value_get(&inputs[0], i) + zn_value_get(&inputs[1], i));
    }
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    zn_add_f32(inputs[0], inputs[1], false, dst, zn_row_elements(node));
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    if (zn_masked_sum_fits(request->node)) return zn_masked_sum_lower(request, 1, -1, out, err);
    return zn_row_lower(request, 1, row, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)graph, (void)node, (void)input;
    return dy;
}

static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 2, .inputs = {{4, {1, 1, 1, 3}}, {4, {1, 1, 1, 3}}}},
    {.name = "odd", .inputs_count = 2, .inputs = {{4, {1, 5, 7, 4}}, {4, {1, 5, 7, 4}}}},
    {.name = "wide", .inputs_count = 2, .inputs = {{4, {1, 2, 33, 64}}, {4, {1, 2, 33, 64}}}},
    {.name = "vector", .inputs_count = 2, .inputs = {{1, {19}}, {1, {19}}}},
};

const zn_op zn_op_add = {
    .name = "add",
    .summary = "sum of two values of one shape",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_add(zn_graph *graph, const char *name, zn_node *a, zn_node *b)
{
    return zn_graph_add(graph, &zn_op_add, name, (zn_node *[]){a, b}, 2, NULL);
}
