// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Multiplies a map, or a number [1], by a scalar that the caller sets for each run. Training scales
// the gradients of a loss this way: it multiplies the loss, a number, by the seed of the gradients.
#include "src/op/operator.h"

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

const zn_op zn_op_scale = {
    .name = "scale",
    .summary = "a map or a number times a number set for each run",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 4), {0, {0}}),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 3), {0, {0}}),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(3, 19, 64), {0, {0}}),
                          ZN_SAMPLE("number", NULL, 0, ZN_VECTOR(1), {0, {0}})),
};

zn_node *zn_scale(zn_graph *graph, const char *name, zn_node *x, zn_node *factor)
{
    return zn_graph_pair(graph, &zn_op_scale, name, x, factor, NULL);
}
