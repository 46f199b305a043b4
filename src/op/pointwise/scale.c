// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Multiplies a map, or a number [1], by a scalar that the caller sets for each run. Training scales the
// gradients of a loss this way: it multiplies the loss, a number, by the seed of the gradients.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 2, err));
    if (node->inputs[0]->desc.shape.rank == 1)
        ZN_TRY(zn_check_vector(node, 0, 1, err));
    else
        ZN_TRY(zn_check_map(node, 0, err));
    if (node->inputs[1]->desc.shape.rank != 0)
        return zn_fail(err, ZENITH_INTERNAL, "scale: input 1 ('%s') is no scalar",
                       node->inputs[1]->name);
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    float factor = zn_value_get(&inputs[1], 0);
    size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        zn_value_set(output, i, zn_value_get(&inputs[0], i) * factor);
    }
}

// The number is the caller's: it gets no gradient.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return input == 0 ? zn_scale(graph, node->name, dy, node->inputs[1]) : NULL;
}

static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 2, .inputs = {{4, {1, 1, 1, 4}}, {0, {0}}}},
    {.name = "odd", .inputs_count = 2, .inputs = {{4, {1, 5, 7, 3}}, {0, {0}}}},
    {.name = "wide", .inputs_count = 2, .inputs = {{4, {1, 3, 19, 64}}, {0, {0}}}},
    {.name = "number", .inputs_count = 2, .inputs = {{1, {1}}, {0, {0}}}},
};

const zn_op zn_op_scale = {
    .name = "scale",
    .summary = "a map or a number times a number set for each run",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_scale(zn_graph *graph, const char *name, zn_node *x, zn_node *factor)
{
    return zn_graph_add(graph, &zn_op_scale, name, (zn_node *[]){x, factor}, 2, NULL);
}
