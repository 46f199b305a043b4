// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A curve over every value of a map or a vector: silu, gelu or tanh.
#include "src/kernel/kernels.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/token/pixel_lowering.h"
#include "src/op/token/token_checks.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_tokens(node, 0, err));
    ZN_TRY(zn_check_activation(node, err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_curve curve = zn_curve_of(node);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++)
        zn_value_set(output, i, (float)zn_curve_value(curve, (double)zn_value_get(&inputs[0], i)));
}

static void compute(const zn_pixels *p)
{
    p->kernels->activation(zn_curve_of(p->node), false)(p->inputs[0], NULL, p->dst,
                                                        p->count * zn_pixel_elements(p->node));
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_pixel_lower(request, compute, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_add(graph, &zn_op_activate_gradient, node->name,
                        (zn_node *[]){dy, node->inputs[input]}, 2, node->attributes);
}

static const zn_activation_attributes silu = {ZN_ACTIVATION_SILU}, gelu = {ZN_ACTIVATION_GELU},
                                      gelu_tanh = {ZN_ACTIVATION_GELU_TANH},
                                      tanh_ = {ZN_ACTIVATION_TANH};
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 1}}}, .attributes = &silu},
    {.name = "silu", .inputs_count = 1, .inputs = {{4, {1, 3, 17, 70}}}, .attributes = &silu},
    {.name = "gelu", .inputs_count = 1, .inputs = {{4, {1, 19, 1, 33}}}, .attributes = &gelu},
    {.name = "by tanh", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 3}}}, .attributes = &gelu_tanh},
    {.name = "tanh", .inputs_count = 1, .inputs = {{4, {1, 7, 1, 64}}}, .attributes = &tanh_},
    {.name = "vector", .inputs_count = 1, .inputs = {{1, {37}}}, .attributes = &silu},
};

const zn_op zn_op_activate = {
    .name = "activate",
    .summary = "silu, gelu or tanh of every value",
    .attributes_size = sizeof(zn_activation_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = zn_activation_flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_activate(zn_graph *graph, const char *name, zn_node *x, zn_activation kind)
{
    return zn_graph_add(graph, &zn_op_activate, name, &x, 1, &(zn_activation_attributes){kind});
}
