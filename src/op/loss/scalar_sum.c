// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A weighted sum of numbers [1]: how several losses become one. A node has a few inputs; the
// builder makes sums of sums where there are more.
#include "src/op/operator.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, ZN_SCALAR_SUM_INPUTS, err));
    for (int i = 0; i < node->inputs_count; i++) ZN_TRY(zn_check_vector(node, i, 1, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(1));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_scalar_sum_attributes *a = node->attributes;
    double sum = 0;
    for (int i = 0; i < node->inputs_count; i++)
        sum += (double)a->weights[i] * (double)zn_value_get(&inputs[i], 0);
    zn_value_set(output, 0, (float)sum);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_scalar_sum_attributes *a = node->attributes;
    return zn_scalar_sum(graph, node->name, &dy, &a->weights[input], 1);
}

static const zn_scalar_sum_attributes one = {{0.5f}}, three = {{1, -2, 0.25f}};

const zn_op zn_op_scalar_sum = {
    .name = "scalar_sum",
    .summary = "a weighted sum of numbers",
    .attributes_size = sizeof(zn_scalar_sum_attributes),
    .traits = ZN_OP_FIXED,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .reference = reference,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("one", &one, 0, ZN_VECTOR(1)),
                          ZN_SAMPLE("three", &three, 0, ZN_VECTOR(1), ZN_VECTOR(1), ZN_VECTOR(1))),
};

zn_node *zn_scalar_sum(zn_graph *graph, const char *name, zn_node *const *numbers,
                       const float *weights, int count)
{
    zn_scalar_sum_attributes a = {{0}};
    zn_node *inputs[ZN_SCALAR_SUM_INPUTS];
    int used = 0;
    if (count > ZN_SCALAR_SUM_INPUTS) { // all but the last few are one number first
        const int rest = ZN_SCALAR_SUM_INPUTS - 1;
        inputs[used] = zn_scalar_sum(graph, name, numbers, weights, count - rest);
        a.weights[used++] = 1;
        numbers += count - rest;
        weights += count - rest;
        count = rest;
    }
    for (int i = 0; i < count; i++, used++) {
        inputs[used] = numbers[i];
        a.weights[used] = weights[i];
    }
    return zn_graph_add(graph, &zn_op_scalar_sum, name, inputs, used, &a);
}
