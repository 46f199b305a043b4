// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// x * (1 + scale) + shift, with a scale and a shift for each channel that a condition decides; for
// each channel of each column, where columns have conditions of their own. With `plain` x * scale +
// shift: the gradient of gated_add.
//
// x + gate * y, with a gate for each channel: how a conditioned block adds its branch. Columns may
// have gates of their own.
#include "src/kernel/kernels.h"
#include "src/kernel/pointwise/modulate.h"
#include "src/op/operator.h"
#include "src/op/token/token_checks.h"

enum { X, SCALE, SHIFT, INPUTS };

static float one_of(const zn_node *node)
{
    return ((const zn_modulate_attributes *)node->attributes)->plain ? 0.0f : 1.0f;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, SHIFT, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_modulator(node, SCALE, err));
    const int64_t channels = node->inputs[SCALE]->desc.shape.dim[0];
    if (node->inputs_count > SHIFT) ZN_TRY(zn_check_vector(node, SHIFT, channels, err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t channels = zn_value_count(&inputs[SCALE]), count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const size_t c = i % channels;
        double value = (double)zn_value_get(&inputs[X], i);
        value *= (double)one_of(node) + (double)zn_value_get(&inputs[SCALE], c);
        if (node->inputs_count > SHIFT) value += (double)zn_value_get(&inputs[SHIFT], c);
        zn_value_set(output, i, (float)value);
    }
}

static void compute(const zn_pixels *p)
{
    const zn_modulation how = {.channels = (size_t)p->node->inputs[SCALE]->desc.shape.dim[0],
                               .one = one_of(p->node),
                               .scale = p->inputs[SCALE],
                               .shift = p->node->inputs_count > SHIFT ? p->inputs[SHIFT] : NULL};
    p->kernels->modulate(&how, p->inputs[X], p->count, p->dst);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_modulates_columns(request->node, SCALE) ? zn_row_lower(request, out, err)
                                                      : zn_pixel_lower(request, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == X)
        return zn_graph_add(graph, &zn_op_modulate, node->name,
                            (zn_node *[]){dy, node->inputs[SCALE]}, SHIFT, node->attributes);
    if (zn_modulates_columns(node, SCALE))
        return input == SCALE ? zn_column_product_sum(graph, node->name, dy, node->inputs[X])
                              : zn_column_sum(graph, node->name, dy);
    if (input == SCALE) return zn_channel_product_sum(graph, node->name, dy, node->inputs[X]);
    return zn_channel_sum(graph, node->name, dy);
}

static const zn_modulate_attributes usual = {false}, plain = {true};

const zn_op zn_op_modulate = {
    .name = "modulate",
    .summary = "x * (1 + scale) + shift, by channel",
    .attributes_size = sizeof(zn_modulate_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .pixels = compute,
    .lower = lower,
    .work = 2,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", &usual, 0, ZN_MAP(1, 1, 1), ZN_VECTOR(1)),
        ZN_SAMPLE("tokens", &usual, 0, ZN_MAP(19, 1, 133), ZN_VECTOR(133), ZN_VECTOR(133)),
        ZN_SAMPLE("columns", &usual, 0, ZN_MAP(5, 3, 20), ZN_VECTOR(60), ZN_VECTOR(60)),
        ZN_SAMPLE("plain", &plain, 0, ZN_MAP(3, 5, 70), ZN_VECTOR(70))),
};

zn_node *zn_modulate(zn_graph *graph, const char *name, zn_node *x, zn_node *scale, zn_node *shift)
{
    return zn_graph_add(graph, &zn_op_modulate, name, (zn_node *[]){x, scale, shift},
                        shift ? INPUTS : SHIFT, &usual);
}

zn_node *zn_times_vector(zn_graph *graph, const char *name, zn_node *x, zn_node *factor,
                         zn_node *offset)
{
    return zn_graph_add(graph, &zn_op_modulate, name, (zn_node *[]){x, factor, offset},
                        offset ? INPUTS : SHIFT, &(zn_modulate_attributes){.plain = true});
}

enum { Y = 1, GATE, ADD_INPUTS }; // of gated_add, after x

static zenith_status add_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, ADD_INPUTS, ADD_INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_same_shape(node, X, Y, err));
    ZN_TRY(zn_check_modulator(node, GATE, err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static void add_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
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

static void add_compute(const zn_pixels *p)
{
    const zn_modulation how = {.channels = (size_t)p->node->inputs[GATE]->desc.shape.dim[0],
                               .scale = p->inputs[GATE],
                               .residual = p->inputs[X]};
    p->kernels->modulate(&how, p->inputs[Y], p->count, p->dst);
}

static zenith_status add_lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_modulates_columns(request->node, GATE) ? zn_row_lower(request, out, err)
                                                     : zn_pixel_lower(request, out, err);
}

static zn_node *add_gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
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
    .infer = add_infer,
    .reference = add_reference,
    .pixels = add_compute,
    .lower = add_lower,
    .work = 2,
    .gradient = add_gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 1), ZN_MAP(1, 1, 1), ZN_VECTOR(1)),
        ZN_SAMPLE("tokens", NULL, 0, ZN_MAP(19, 1, 133), ZN_MAP(19, 1, 133), ZN_VECTOR(133)),
        ZN_SAMPLE("picture", NULL, 0, ZN_MAP(3, 5, 70), ZN_MAP(3, 5, 70), ZN_VECTOR(70)),
        ZN_SAMPLE("columns", NULL, 0, ZN_MAP(5, 3, 20), ZN_MAP(5, 3, 20), ZN_VECTOR(60))),
};

zn_node *zn_gated_add(zn_graph *graph, const char *name, zn_node *x, zn_node *y, zn_node *gate)
{
    return zn_graph_add(graph, &zn_op_gated_add, name, (zn_node *[]){x, y, gate}, ADD_INPUTS, NULL);
}
