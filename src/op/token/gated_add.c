// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// x + gate * y, with a gate for each channel: how a conditioned block adds its branch. Columns may have
// gates of their own.
#include "src/kernel/kernels.h"
#include "src/kernel/pointwise/modulate.h"
#include "src/op/operator.h"
#include "src/op/token/token_checks.h"

enum { X, Y, GATE, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_same_shape(node, X, Y, err));
    ZN_TRY(zn_check_modulator(node, GATE, err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    const size_t channels = zn_value_count(&inputs[GATE]), count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const double gate = (double)zn_value_get(&inputs[GATE], i % channels);
        zn_value_set(output, i,
                     (float)((double)zn_value_get(&inputs[X], i) +
                             gate * (double)zn_value_get(&inputs[Y], i)));
    }
}

static void compute(const zn_pixels *p)
{
    const zn_modulation how = {.channels = (size_t)p->node->inputs[GATE]->desc.shape.dim[0],
                               .scale = p->inputs[GATE],
                               .residual = p->inputs[X]};
    p->kernels->modulate(&how, p->inputs[Y], p->count, p->dst);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_modulates_columns(request->node, GATE) ? zn_pixel_lower_rows(request, out, err)
                                                     : zn_pixel_lower(request, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == X) return dy;
    if (input == GATE)
        return (zn_modulates_columns(node, GATE) ? zn_column_product_sum : zn_channel_product_sum)(
            graph, node->name, dy, node->inputs[Y]);
    return zn_graph_pair(graph, &zn_op_modulate, node->name, dy, node->inputs[GATE],
                         &(zn_modulate_attributes){.plain = true});
}

const zn_op zn_op_gated_add = {
    .name = "gated_add",
    .summary = "x + gate * y, by channel",
    .traits = ZN_OP_BRANCHES,
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .pixels = compute,
    .lower = lower,
    .work = 2,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 1), ZN_MAP(1, 1, 1), ZN_VECTOR(1)),
        ZN_SAMPLE("tokens", NULL, 0, ZN_MAP(19, 1, 133), ZN_MAP(19, 1, 133), ZN_VECTOR(133)),
        ZN_SAMPLE("picture", NULL, 0, ZN_MAP(3, 5, 70), ZN_MAP(3, 5, 70), ZN_VECTOR(70)),
        ZN_SAMPLE("columns", NULL, 0, ZN_MAP(5, 3, 20), ZN_MAP(5, 3, 20), ZN_VECTOR(60))),
};

zn_node *zn_gated_add(zn_graph *graph, const char *name, zn_node *x, zn_node *y, zn_node *gate)
{
    return zn_graph_add(graph, &zn_op_gated_add, name, (zn_node *[]){x, y, gate}, INPUTS, NULL);
}
