// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum of two maps, or of two other values in f32. Most sums of a model are fused into the
// convolution before them; see conv2d.c.
#include "src/kernel/pointwise/elementwise.h"
#include "src/op/operator.h"
#include "src/op/pointwise/masked_sum_lowering.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 2, err));
    ZN_TRY(zn_check_same_shape(node, 0, 1, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    zn_add_f32(inputs[0], inputs[1], false, dst, zn_row_elements(node));
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    if (zn_masked_sum_fits(request->node)) return zn_masked_sum_lower(request, 1, -1, out, err);
    return zn_row_lower(request, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)graph, (void)node, (void)input;
    return dy;
}

const zn_op zn_op_add = {
    .name = "add",
    .summary = "sum of two values of one shape",
    .traits = ZN_OP_BRANCHES,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .row = row,
    .lower = lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 4), ZN_MAP(5, 7, 4)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(2, 33, 64), ZN_MAP(2, 33, 64)),
                          ZN_SAMPLE("vector", NULL, 0, ZN_VECTOR(19), ZN_VECTOR(19))),
};

zn_node *zn_add(zn_graph *graph, const char *name, zn_node *a, zn_node *b)
{
    return zn_graph_pair(graph, &zn_op_add, name, a, b, NULL);
}
