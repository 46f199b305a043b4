// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of rms_norm and layer_norm with respect to x: see kernel/norm/token_norm.h.
#include "src/kernel/kernels.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"
#include "src/op/token/pixel_lowering.h"
#include "src/op/token/token_checks.h"
#include "src/op/token/token_norm_op.h"

enum { DY, X, GAIN, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_token_norm_parts *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, GAIN + a->gain, GAIN + a->gain, err));
    ZN_TRY(zn_check_token_groups(node, err));
    ZN_TRY(zn_check_same_shape(node, DY, X, err));
    if (a->gain) ZN_TRY(zn_check_vector(node, GAIN, zn_group_width(node, a->groups), err));
    zn_infer_tokens(node);
    return ZENITH_OK;
}

static void compute(const zn_pixels *p)
{
    const zn_token_norm_parts *a = p->node->attributes;
    zn_token_norm norm = zn_token_norm_of(p->node);
    norm.gain = a->gain ? p->inputs[GAIN] : NULL;
    p->kernels->token_norm_gradient(&norm, p->inputs[DY], p->inputs[X],
                                    p->count * (size_t)a->groups, p->dst);
}

// Row i of the Jacobian by column k, without the sums that the lowering uses:
// dz_k / dx_i = r ((k == i) - [centred] / n - z_k z_i / n).
static double slope(const zn_token_norm *norm, const zn_token_stats *s, size_t k, size_t i,
                    double xk, double xi)
{
    const double n = (double)norm->width;
    const double zk = (xk - s->mean) * s->rstd, zi = (xi - s->mean) * s->rstd;
    return s->rstd * ((double)(k == i) - (double)norm->centred / n - zk * zi / n);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const bool gain = ((const zn_token_norm_parts *)node->attributes)->gain;
    const zn_token_norm norm = zn_token_norm_of(node);
    const size_t width = norm.width, count = zn_value_count(output);
    for (size_t at = 0; at < count; at++) {
        const size_t first = at / width * width;
        const zn_token_stats s = zn_token_norm_plain(&norm, &inputs[X], first);
        double sum = 0;
        for (size_t k = 0; k < width; k++) {
            double g = (double)zn_value_get(&inputs[DY], first + k);
            if (gain) g *= (double)zn_value_get(&inputs[GAIN], k);
            sum += g * slope(&norm, &s, k, at - first, (double)zn_value_get(&inputs[X], first + k),
                             (double)zn_value_get(&inputs[X], at));
        }
        zn_value_set(output, at, (float)sum);
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_pixel_lower(request, compute, out, err);
}

static double flops(const zn_node *node)
{
    return 12 * zn_flops_of_input(node);
}

static const zn_token_norm_parts rms = {1, 1e-6f, false, true, false},
                                 layer = {1, 1e-5f, true, true, false},
                                 heads = {4, 1e-5f, true, false, false};
// clang-format off
#define MAP(h, w, c) {4, {1, h, w, c}}
static const zn_op_sample samples[] = {
    {.name = "rms", .inputs_count = 3, .inputs = {MAP(9, 1, 65), MAP(9, 1, 65), {1, {65}}},
     .parameters = 4, .attributes = &rms},
    {.name = "layer", .inputs_count = 3, .inputs = {MAP(9, 1, 33), MAP(9, 1, 33), {1, {33}}},
     .parameters = 4, .attributes = &layer},
    {.name = "heads", .inputs_count = 2, .inputs = {MAP(3, 5, 96), MAP(3, 5, 96)},
     .attributes = &heads},
};
// clang-format on

const zn_op zn_op_token_norm_gradient = {
    .name = "token_norm_gradient",
    .summary = "the gradient of rms_norm and layer_norm",
    .attributes_size = sizeof(zn_token_norm_parts),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
