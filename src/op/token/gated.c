// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// activation(a) * b, value by value: the gated product of feed-forward blocks (swiglu with silu).
#include "src/kernel/kernels.h"
#include "src/op/operator.h"
#include "src/op/token/token_checks.h"

enum { A, B, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_tokens(node, A, err));
    ZN_TRY(zn_check_same_shape(node, A, B, err));
    ZN_TRY(zn_check_activation(node, err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_curve curve = zn_curve_of(node);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const double value = zn_curve_value(curve, (double)zn_value_get(&inputs[A], i));
        zn_value_set(output, i, (float)(value * (double)zn_value_get(&inputs[B], i)));
    }
}

static void compute(const zn_pixels *p)
{
    p->kernels->activation(zn_curve_of(p->node), false)(p->inputs[A], p->inputs[B], p->dst,
                                                        p->count * zn_pixel_elements(p->node));
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_activation kind = ((const zn_activation_attributes *)node->attributes)->kind;
    if (input == B) return zn_gated(graph, node->name, node->inputs[A], dy, kind);
    return zn_graph_add(graph, &zn_op_activate_gradient, node->name,
                        (zn_node *[]){dy, node->inputs[A], node->inputs[B]}, 3, node->attributes);
}

static const zn_activation_attributes silu = {ZN_ACTIVATION_SILU}, gelu = {ZN_ACTIVATION_GELU},
                                      gelu_tanh = {ZN_ACTIVATION_GELU_TANH},
                                      tanh_ = {ZN_ACTIVATION_TANH},
                                      logistic = {ZN_ACTIVATION_LOGISTIC},
                                      none = {ZN_ACTIVATION_NONE};

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
    .gradient = gradient,
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
