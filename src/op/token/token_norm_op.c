// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// rms_norm: x / sqrt(mean(x^2) + epsilon) * gain, over the channels of each token or of its groups.
// layer_norm: (x - mean) / sqrt(variance + epsilon) * gain + bias.
#include "src/op/token/token_norm_op.h"
#include "src/kernel/kernels.h"

#include "src/op/operator.h"
#include "src/op/token/token_checks.h"

#include <math.h>

static int gain_input(const zn_token_norm_parts *a)
{
    return a->gain ? 1 : -1;
}

static int bias_input(const zn_token_norm_parts *a)
{
    return a->bias ? 1 + a->gain : -1;
}

zn_token_norm zn_token_norm_of(const zn_node *node)
{
    const zn_token_norm_parts *a = node->attributes;
    return (zn_token_norm){.width = (size_t)zn_group_width(node, a->groups),
                           .centred = a->centred,
                           .epsilon = a->epsilon};
}

zenith_status zn_check_token_groups(const zn_node *node, zn_error *err)
{
    const zn_token_norm_parts *a = node->attributes;
    ZN_TRY(zn_check_map(node, 0, err));
    if (zn_group_width(node, a->groups) > 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s: %lld channels do not divide into %d groups",
                   node->op->name, (long long)node->inputs[0]->desc.shape.dim[3], a->groups);
}

zenith_status zn_token_norm_infer(zn_node *node, zn_error *err)
{
    const zn_token_norm_parts *a = node->attributes;
    const int count = 1 + a->gain + a->bias;
    ZN_TRY(zn_check_inputs(node, count, count, err));
    ZN_TRY(zn_check_token_groups(node, err));
    for (int i = 1; i < count; i++)
        ZN_TRY(zn_check_vector(node, i, zn_group_width(node, a->groups), err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

zn_token_stats zn_token_norm_plain(const zn_token_norm *norm, const zn_tensor *x, size_t first)
{
    double mean = 0, squares = 0;
    const double n = (double)norm->width;
    for (size_t i = 0; i < norm->width && norm->centred; i++)
        mean += (double)zn_value_get(x, first + i) / n;
    for (size_t i = 0; i < norm->width; i++) {
        const double d = (double)zn_value_get(x, first + i) - mean;
        squares += d * d / n;
    }
    return (zn_token_stats){mean, 1 / sqrt(squares + (double)norm->epsilon)};
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_token_norm_parts *a = node->attributes;
    const zn_token_norm norm = zn_token_norm_of(node);
    const size_t count = zn_value_count(output);
    for (size_t first = 0; first < count; first += norm.width) {
        const zn_token_stats s = zn_token_norm_plain(&norm, &inputs[0], first);
        for (size_t i = 0; i < norm.width; i++) {
            double value = ((double)zn_value_get(&inputs[0], first + i) - s.mean) * s.rstd;
            if (a->gain) value *= (double)zn_value_get(&inputs[gain_input(a)], i);
            if (a->bias) value += (double)zn_value_get(&inputs[bias_input(a)], i);
            zn_value_set(output, first + i, (float)value);
        }
    }
}

void zn_token_norm_pixels(const zn_pixels *p)
{
    const zn_token_norm_parts *a = p->node->attributes;
    zn_token_norm norm = zn_token_norm_of(p->node);
    norm.gain = a->gain ? p->inputs[gain_input(a)] : NULL;
    norm.bias = a->bias ? p->inputs[bias_input(a)] : NULL;
    p->kernels->token_norm(&norm, p->inputs[0], p->count * (size_t)a->groups, p->dst);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_token_norm_parts *a = node->attributes;
    zn_node *x = node->inputs[0], *gain = a->gain ? node->inputs[gain_input(a)] : NULL;
    zn_token_norm_parts without = *a;
    without.bias = false;
    if (input == 0)
        return zn_graph_add(graph, &zn_op_token_norm_gradient, node->name,
                            (zn_node *[]){dy, x, gain}, gain ? 3 : 2, &without);
    if (input == bias_input(a))
        return zn_graph_add(graph, &zn_op_token_norm_bias_gradient, node->name, &dy, 1, &without);
    return zn_graph_pair(graph, &zn_op_token_norm_gain_gradient, node->name, dy, x, &without);
}

static const zn_token_norm_parts one = {1, 1e-6f, false, true, false},
                                 bare = {1, 0.5f, false, false, false},
                                 heads = {4, 1e-5f, false, true, false};

const zn_op zn_op_rms_norm = {
    .name = "rms_norm",
    .summary = "a token's channels, or groups of them, divided by the root of their mean square",
    .attributes_size = sizeof(zn_token_norm_parts),
    .result_types = ZN_FLOAT_TYPES,
    .infer = zn_token_norm_infer,
    .reference = reference,
    .pixels = zn_token_norm_pixels,
    .lower = zn_pixel_lower,
    .work = 5,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &bare, 0, ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("tokens", &one, 2, ZN_MAP(19, 1, 133), ZN_VECTOR(133)),
                          ZN_SAMPLE("heads", &heads, 0, ZN_MAP(3, 5, 96), ZN_VECTOR(24))),
};

zn_node *zn_rms_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gain,
                     zn_token_norm_attributes attributes)
{
    const zn_token_norm_parts parts = {attributes.groups, attributes.epsilon, false, gain != NULL,
                                       false};
    return zn_graph_add(graph, &zn_op_rms_norm, name, (zn_node *[]){x, gain}, 1 + parts.gain,
                        &parts);
}

static const zn_token_norm_parts layer_bare = {1, 1e-5f, true, false, false},
                                 usual = {1, 1e-6f, true, true, true},
                                 moved = {1, 0.1f, true, false, true},
                                 layer_heads = {4, 1e-5f, true, true, true};

const zn_op zn_op_layer_norm = {
    .name = "layer_norm",
    .summary =
        "a token's channels, or groups of them, less their mean and divided by their deviation",
    .attributes_size = sizeof(zn_token_norm_parts),
    .result_types = ZN_FLOAT_TYPES,
    .infer = zn_token_norm_infer,
    .reference = reference,
    .pixels = zn_token_norm_pixels,
    .lower = zn_pixel_lower,
    .work = 5,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("bare", &layer_bare, 0, ZN_MAP(4, 3, 33)),
        ZN_SAMPLE("usual", &usual, 6, ZN_MAP(19, 1, 133), ZN_VECTOR(133), ZN_VECTOR(133)),
        ZN_SAMPLE("moved", &moved, 2, ZN_MAP(5, 1, 16), ZN_VECTOR(16)),
        ZN_SAMPLE("heads", &layer_heads, 0, ZN_MAP(3, 5, 96), ZN_VECTOR(24), ZN_VECTOR(24))),
};

zn_node *zn_layer_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gain, zn_node *bias,
                       zn_token_norm_attributes attributes)
{
    const zn_token_norm_parts parts = {attributes.groups, attributes.epsilon, true, gain != NULL,
                                       bias != NULL};
    zn_node *inputs[3] = {x};
    int count = 1;
    if (gain) inputs[count++] = gain;
    if (bias) inputs[count++] = bias;
    return zn_graph_add(graph, &zn_op_layer_norm, name, inputs, count, &parts);
}
