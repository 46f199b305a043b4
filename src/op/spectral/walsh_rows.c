// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y = W (gate . (W x)) along each row of a map, each channel by itself: x [n, h, w, c], gate [w, c].
#include "src/op/operator.h"
#include "src/op/spectral/walsh_checks.h"
#include "src/op/spectral/walsh_gate_lowering.h"

enum { X, GATE, INPUTS, WIDTH = 2 };

static zenith_status infer(zn_node *node, zn_error *err)
{
    return zn_walsh_infer_gate(node, WIDTH, err);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    zn_walsh_gate_reference(inputs, WIDTH, output);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_walsh_gate_lower(request, WIDTH, out, err);
}

static double flops(const zn_node *node)
{
    return zn_walsh_gate_flops(node, WIDTH);
}

// W gate W is symmetric.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == GATE)
        return zn_graph_pair(graph, &zn_op_walsh_gate_gradient, node->name, dy, node->inputs[X],
                             &(zn_walsh_gate_gradient_attributes){ZN_WALSH_ROW});
    return zn_walsh_gate(graph, node->name, dy, node->inputs[GATE], ZN_WALSH_ROW);
}

const zn_op zn_op_walsh_rows = {
    .name = "walsh_rows",
    .summary = "a gate over the Walsh frequencies of each row",
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pair", NULL, 2, ZN_MAP(1, 2, 1), {2, {2, 1}}),
                          ZN_SAMPLE("odd", NULL, 2, ZN_MAP(5, 8, 3), {2, {8, 3}}),
                          ZN_SAMPLE("wide", NULL, 2, ZN_MAP(3, 128, 70), {2, {128, 70}}),
                          ZN_SAMPLE("computed", NULL, 0, ZN_MAP(4, 32, 16), {2, {32, 16}}),
                          ZN_SAMPLE("pieces", NULL, 2, ZN_MAP(2, 64, 130), {2, {64, 130}})),
};

zn_node *zn_walsh_gate(zn_graph *graph, const char *name, zn_node *x, zn_node *gate,
                       zn_walsh_axis axis)
{
    return zn_graph_add(graph, axis == ZN_WALSH_ROW ? &zn_op_walsh_rows : &zn_op_walsh_columns,
                        name, (zn_node *[]){x, gate}, INPUTS, NULL);
}
