// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// y = W (gate . (W x)) along each column of a map, each channel by itself: x [n, h, w, c], gate
// [h, c]. Each value needs every row: a barrier.
#include "src/op/row_lowering.h"
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
        return zn_walsh_gate_gradient(graph, node->name, dy, node->inputs[X], ZN_WALSH_COLUMN);
    return zn_walsh_gate(graph, node->name, dy, node->inputs[GATE], ZN_WALSH_COLUMN);
}

#define SAMPLE(label, h, w, c, constant)                                                           \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS, .inputs = {{4, {1, h, w, c}}, {2, {h, c}}},         \
        .parameters = (constant) ? 1 << GATE : 0                                                   \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pair", 2, 1, 1, true),     SAMPLE("odd", 8, 7, 3, true),
    SAMPLE("wide", 64, 37, 12, true),  SAMPLE("computed", 32, 5, 16, false),
    SAMPLE("pieces", 16, 3, 70, true),
};

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
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
