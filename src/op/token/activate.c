// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A curve over every value of a map or a vector: silu, gelu or tanh. gated: activation(a) * b,
// value by value, the gated product of feed-forward blocks (swiglu with silu).
//
// The gradient of activate, dy * slope(x); and with a third input that of gated with respect to
// what goes through the curve: dy * b * slope(a).
#include "src/kernel/kernels.h"
#include "src/op/operator.h"
#include "src/op/token/token_checks.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    const int count = node->op == &zn_op_gated ? 2 : 1;
    ZN_TRY(zn_check_inputs(node, count, count, err));
    ZN_TRY(zn_check_tokens(node, 0, err));
    ZN_TRY(zn_check_same_shape(node, 0, count - 1, err));
    ZN_TRY(zn_check_activation(node, err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_curve curve = zn_curve_of(node);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const double value = zn_curve_value(curve, (double)zn_value_get(&inputs[0], i));
        const double other = node->inputs_count > 1 ? (double)zn_value_get(&inputs[1], i) : 1;
        zn_value_set(output, i, (float)(value * other));
    }
}

static void compute(const zn_pixels *p) // input 1 is NULL where there is none
{
    p->kernels->activation(zn_curve_of(p->node), false)(p->inputs[0], p->inputs[1], p->dst,
                                                        p->count * zn_pixel_elements(p->node));
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_pair(graph, &zn_op_activate_gradient, node->name, dy, node->inputs[input],
                         node->attributes);
}

static const zn_activation_attributes silu = {ZN_ACTIVATION_SILU}, gelu = {ZN_ACTIVATION_GELU},
                                      gelu_tanh = {ZN_ACTIVATION_GELU_TANH},
                                      tanh_ = {ZN_ACTIVATION_TANH},
                                      logistic = {ZN_ACTIVATION_LOGISTIC},
                                      none = {ZN_ACTIVATION_NONE};

const zn_op zn_op_activate = {
    .name = "activate",
    .summary = "silu, gelu or tanh of every value",
    .attributes_size = sizeof(zn_activation_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .pixels = compute,
    .lower = zn_pixel_lower,
    .work = ZN_ACTIVATION_WORK,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &silu, 0, ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("silu", &silu, 0, ZN_MAP(3, 17, 70)),
                          ZN_SAMPLE("gelu", &gelu, 0, ZN_MAP(19, 1, 33)),
                          ZN_SAMPLE("by tanh", &gelu_tanh, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("tanh", &tanh_, 0, ZN_MAP(7, 1, 64)),
                          ZN_SAMPLE("vector", &silu, 0, ZN_VECTOR(37))),
};

zn_node *zn_activate(zn_graph *graph, const char *name, zn_node *x, zn_activation kind)
{
    return zn_graph_add(graph, &zn_op_activate, name, &x, 1, &(zn_activation_attributes){kind});
}

enum { DY, X, B, INPUTS };

static zenith_status gradient_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, B, INPUTS, err));
    ZN_TRY(zn_check_tokens(node, DY, err));
    for (int i = X; i < node->inputs_count; i++) ZN_TRY(zn_check_same_shape(node, DY, i, err));
    ZN_TRY(zn_check_activation(node, err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static void gradient_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_curve curve = zn_curve_of(node);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const double slope = zn_curve_slope(curve, (double)zn_value_get(&inputs[X], i));
        const double b = node->inputs_count > B ? (double)zn_value_get(&inputs[B], i) : 1;
        zn_value_set(output, i, (float)((double)zn_value_get(&inputs[DY], i) * b * slope));
    }
}

static void gradient_compute(const zn_pixels *p)
{
    const size_t count = p->count * zn_pixel_elements(p->node);
    p->kernels->activation(zn_curve_of(p->node), true)(p->inputs[X], p->inputs[DY], p->dst, count);
    if (p->node->inputs_count <= B) return;
    for (size_t i = 0; i < count; i++) p->dst[i] *= p->inputs[B][i];
}

const zn_op zn_op_activate_gradient = {
    .name = "activate_gradient",
    .summary = "the gradient of activate, and of gated's first input",
    .attributes_size = sizeof(zn_activation_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = gradient_infer,
    .reference = gradient_reference,
    .pixels = gradient_compute,
    .lower = zn_pixel_lower,
    .work = ZN_ACTIVATION_WORK,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("silu", &silu, 0, ZN_MAP(3, 17, 70), ZN_MAP(3, 17, 70)),
        ZN_SAMPLE("gelu", &gelu, 0, ZN_MAP(19, 1, 33), ZN_MAP(19, 1, 33)),
        ZN_SAMPLE("by tanh", &gelu_tanh, 0, ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3)),
        ZN_SAMPLE("tanh", &tanh_, 0, ZN_MAP(7, 1, 64), ZN_MAP(7, 1, 64), ZN_MAP(7, 1, 64)),
        ZN_SAMPLE("vector", &silu, 0, ZN_VECTOR(37), ZN_VECTOR(37), ZN_VECTOR(37))),
};

static zn_node *gated_gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_activation kind = ((const zn_activation_attributes *)node->attributes)->kind;
    if (input == 1) return zn_gated(graph, node->name, node->inputs[0], dy, kind);
    return zn_graph_add(graph, &zn_op_activate_gradient, node->name,
                        (zn_node *[]){dy, node->inputs[0], node->inputs[1]}, 3, node->attributes);
}

const zn_op zn_op_gated = {
    .name = "gated",
    .summary = "a curve of one value (silu, gelu, tanh, logistic, none) times another",
    .attributes_size = sizeof(zn_activation_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .pixels = compute,
    .lower = zn_pixel_lower,
    .work = ZN_ACTIVATION_WORK,
    .gradient = gated_gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &silu, 0, ZN_MAP(1, 1, 1), ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("silu", &silu, 0, ZN_MAP(19, 1, 133), ZN_MAP(19, 1, 133)),
                          ZN_SAMPLE("gelu", &gelu, 0, ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("by tanh", &gelu_tanh, 0, ZN_MAP(3, 17, 70), ZN_MAP(3, 17, 70)),
                          ZN_SAMPLE("tanh", &tanh_, 0, ZN_MAP(7, 1, 64), ZN_MAP(7, 1, 64)),
                          ZN_SAMPLE("logistic", &logistic, 0, ZN_MAP(2, 3, 35), ZN_MAP(2, 3, 35)),
                          ZN_SAMPLE("product", &none, 0, ZN_MAP(2, 5, 19), ZN_MAP(2, 5, 19)),
                          ZN_SAMPLE("vectors", &silu, 0, ZN_VECTOR(37), ZN_VECTOR(37))),
};

zn_node *zn_gated(zn_graph *graph, const char *name, zn_node *a, zn_node *b, zn_activation kind)
{
    return zn_graph_pair(graph, &zn_op_gated, name, a, b, &(zn_activation_attributes){kind});
}
