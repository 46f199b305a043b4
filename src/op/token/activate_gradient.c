// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of activate, dy * slope(x); and with a third input that of gated with respect to what
// goes through the curve: dy * b * slope(a).
#include "src/kernel/kernels.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/token/pixel_lowering.h"
#include "src/op/token/token_checks.h"

enum { DY, X, B, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, B, INPUTS, err));
    ZN_TRY(zn_check_tokens(node, DY, err));
    for (int i = X; i < node->inputs_count; i++) ZN_TRY(zn_check_same_shape(node, DY, i, err));
    ZN_TRY(zn_check_activation(node, err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_curve curve = zn_curve_of(node);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const double slope = zn_curve_slope(curve, (double)zn_value_get(&inputs[X], i));
        const double b = node->inputs_count > B ? (double)zn_value_get(&inputs[B], i) : 1;
        zn_value_set(output, i, (float)((double)zn_value_get(&inputs[DY], i) * b * slope));
    }
}

static void compute(const zn_pixels *p)
{
    const size_t count = p->count * zn_pixel_elements(p->node);
    p->kernels->activation(zn_curve_of(p->node), true)(p->inputs[X], p->inputs[DY], p->dst, count);
    if (p->node->inputs_count <= B) return;
    for (size_t i = 0; i < count; i++) p->dst[i] *= p->inputs[B][i];
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_pixel_lower(request, compute, out, err);
}

static const zn_activation_attributes silu = {ZN_ACTIVATION_SILU}, gelu = {ZN_ACTIVATION_GELU},
                                      gelu_tanh = {ZN_ACTIVATION_GELU_TANH},
                                      tanh_ = {ZN_ACTIVATION_TANH};
#define MAP(h, w, c)                                                                               \
    {                                                                                              \
        4,                                                                                         \
        {                                                                                          \
            1, h, w, c                                                                             \
        }                                                                                          \
    }
static const zn_op_sample samples[] = {
    {.name = "silu",
     .inputs_count = 2,
     .inputs = {MAP(3, 17, 70), MAP(3, 17, 70)},
     .attributes = &silu},
    {.name = "gelu",
     .inputs_count = 2,
     .inputs = {MAP(19, 1, 33), MAP(19, 1, 33)},
     .attributes = &gelu},
    {.name = "by tanh",
     .inputs_count = 3,
     .inputs = {MAP(5, 7, 3), MAP(5, 7, 3), MAP(5, 7, 3)},
     .attributes = &gelu_tanh},
    {.name = "tanh",
     .inputs_count = 3,
     .inputs = {MAP(7, 1, 64), MAP(7, 1, 64), MAP(7, 1, 64)},
     .attributes = &tanh_},
    {.name = "vector",
     .inputs_count = 3,
     .inputs = {{1, {37}}, {1, {37}}, {1, {37}}},
     .attributes = &silu},
};

const zn_op zn_op_activate_gradient = {
    .name = "activate_gradient",
    .summary = "the gradient of activate, and of gated's first input",
    .attributes_size = sizeof(zn_activation_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = zn_activation_flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
