// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// max(x, 0). A NaN stays NaN. Nearly always fused into a convolution; see conv2d.c. The
// gradient is dy where the result y was positive, else 0.
#include "src/kernel/pointwise/elementwise.h"
#include "src/op/operator.h"
#include "src/op/pointwise/masked_sum_lowering.h"

enum { DY, Y, INPUTS }; // of the gradient

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    zn_relu_f32(inputs[0], dst, zn_row_elements(node));
}

static void gradient_row(const zn_node *node, const float *const *inputs, float *dst)
{
    zn_relu_gradient_f32(inputs[DY], inputs[Y], dst, zn_row_elements(node));
}

static zenith_status lower_gradient(const zn_lowering_request *request, zn_lowering **out,
                                    zn_error *err)
{
    if (zn_masked_sum_fits(request->node)) return zn_masked_sum_lower(request, -1, Y, out, err);
    return zn_row_lower(request, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)input;
    return zn_relu_gradient(graph, node->name, dy, graph->nodes[node->id]);
}

const zn_op zn_op_relu = {
    .name = "relu",
    .summary = "max(x, 0)",
    .result_types = ZN_MAP_TYPES,
    .infer = zn_infer_one_map,
    .row = row,
    .lower = zn_row_lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(3, 17, 64))),
};

const zn_op zn_op_relu_gradient = {
    .name = "relu_gradient",
    .summary = "the gradient where relu's result was positive, else 0",
    .result_types = ZN_MAP_TYPES,
    .infer = zn_infer_two_maps,
    .row = gradient_row,
    .lower = lower_gradient,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(3, 17, 64), ZN_MAP(3, 17, 64))),
};

zn_node *zn_relu(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_relu, name, &x, 1, NULL);
}

zn_node *zn_relu_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *y)
{
    return zn_graph_pair(graph, &zn_op_relu_gradient, name, dy, y, NULL);
}
