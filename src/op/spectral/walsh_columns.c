// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y = W (gate . (W x)) along each column of a map, each channel by itself: x [n, h, w, c], gate
// [h, c]. Each value needs every row: a barrier.
#include "src/op/operator.h"
#include "src/op/spectral/walsh_checks.h"
#include "src/op/spectral/walsh_gate_lowering.h"

enum { X, GATE, INPUTS, HEIGHT = 1 };

static zenith_status infer(zn_node *node, zn_error *err)
{
    return zn_walsh_infer_gate(node, HEIGHT, err);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    zn_walsh_gate_reference(inputs, HEIGHT, output);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_walsh_gate_lower(request, HEIGHT, out, err);
}

static double flops(const zn_node *node)
{
    return zn_walsh_gate_flops(node, HEIGHT);
}

// W gate W is symmetric.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == GATE)
        return zn_graph_pair(graph, &zn_op_walsh_gate_gradient, node->name, dy, node->inputs[X],
                             &(zn_walsh_gate_gradient_attributes){ZN_WALSH_COLUMN});
    return zn_walsh_gate(graph, node->name, dy, node->inputs[GATE], ZN_WALSH_COLUMN);
}

const zn_op zn_op_walsh_columns = {
    .name = "walsh_columns",
    .summary = "a gate over the Walsh frequencies of each column",
    .traits = ZN_OP_BARRIER,
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pair", NULL, 2, ZN_MAP(2, 1, 1), {2, {2, 1}}),
                          ZN_SAMPLE("odd", NULL, 2, ZN_MAP(8, 7, 3), {2, {8, 3}}),
                          ZN_SAMPLE("wide", NULL, 2, ZN_MAP(64, 37, 12), {2, {64, 12}}),
                          ZN_SAMPLE("computed", NULL, 0, ZN_MAP(32, 5, 16), {2, {32, 16}}),
                          ZN_SAMPLE("pieces", NULL, 2, ZN_MAP(16, 3, 70), {2, {16, 70}})),
};
