// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of rms_norm and layer_norm with respect to the gain: the sum of dy (x - mean) r over
// all tokens and their groups, [channels of a group].
//
// The gradient of layer_norm with respect to the bias: the sum of dy over all tokens and their
// groups, [channels of a group].
//
// The gradient of rms_norm and layer_norm with respect to x: see kernel/token_norm.h.
#include "src/kernel/kernels.h"
#include "src/op/operator.h"
#include "src/op/token/token_checks.h"
#include "src/op/token/token_norm_op.h"

enum { DY, X, GAIN }; // inputs; the gain is that of the gradient of x

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_token_norm_parts *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, GAIN, GAIN, err));
    ZN_TRY(zn_check_token_groups(node, err));
    ZN_TRY(zn_check_same_shape(node, DY, X, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(zn_group_width(node, a->groups)));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_token_norm norm = zn_token_norm_of(node);
    const size_t count = zn_value_count(&inputs[X]);
    for (size_t c = 0; c < norm.width; c++) {
        double sum = 0;
        for (size_t first = 0; first < count; first += norm.width) {
            const zn_token_stats s = zn_token_norm_plain(&norm, &inputs[X], first);
            sum += (double)zn_value_get(&inputs[DY], first + c) *
                   ((double)zn_value_get(&inputs[X], first + c) - s.mean) * s.rstd;
        }
        zn_value_set(output, c, (float)sum);
    }
}

static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    const zn_token_norm norm = zn_token_norm_of(node);
    const int64_t *dim = node->inputs[X]->desc.shape.dim;
    const float *dy = inputs[DY], *x = inputs[X], *end = x + dim[2] * dim[3];
    for (; x < end; x += norm.width, dy += norm.width) {
        const zn_token_stats s = zn_token_norm_stats(&norm, x);
        for (size_t i = 0; i < norm.width; i++)
            sums[i] += (double)dy[i] * ((double)x[i] - s.mean) * s.rstd;
    }
}

static const zn_token_norm_parts rms = {1, 1e-6f, false, true, false},
                                 heads = {4, 1e-5f, true, true, false};

const zn_op zn_op_token_norm_gain_gradient = {
    .name = "token_norm_gain_gradient",
    .summary = "the gradient of rms_norm and layer_norm with respect to the gain",
    .attributes_size = sizeof(zn_token_norm_parts),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .add_row = add_row,
    .lower = zn_sum_lower,
    .work = 5,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("rms", &rms, 0, ZN_MAP(70, 1, 33), ZN_MAP(70, 1, 33)),
                          ZN_SAMPLE("heads", &heads, 0, ZN_MAP(3, 5, 96), ZN_MAP(3, 5, 96))),
};

static zenith_status bias_infer(zn_node *node, zn_error *err)
{
    const zn_token_norm_parts *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_token_groups(node, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(zn_group_width(node, a->groups)));
    return ZENITH_OK;
}

static void bias_add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    const size_t width = (size_t)node->desc.shape.dim[0];
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const float *dy = inputs[0], *end = dy + dim[2] * dim[3];
    for (; dy < end; dy += width)
        for (size_t i = 0; i < width; i++) sums[i] += (double)dy[i];
}

static const zn_token_norm_parts one = {1, 1e-5f, true, false, false},
                                 bias_heads = {4, 1e-5f, true, false, false};

const zn_op zn_op_token_norm_bias_gradient = {
    .name = "token_norm_bias_gradient",
    .summary = "the gradient of layer_norm with respect to the bias",
    .attributes_size = sizeof(zn_token_norm_parts),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = bias_infer,
    .rows = zn_rows_whole,
    .add_row = bias_add_row,
    .lower = zn_sum_lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("tokens", &one, 0, ZN_MAP(70, 1, 33)),
                          ZN_SAMPLE("heads", &bias_heads, 0, ZN_MAP(3, 5, 96))),
};

static zenith_status x_infer(zn_node *node, zn_error *err)
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

static void x_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
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

static const zn_token_norm_parts layer = {1, 1e-5f, true, true, false};

const zn_op zn_op_token_norm_gradient = {
    .name = "token_norm_gradient",
    .summary = "the gradient of rms_norm and layer_norm",
    .attributes_size = sizeof(zn_token_norm_parts),
    .result_types = ZN_FLOAT_TYPES,
    .infer = x_infer,
    .reference = x_reference,
    .pixels = compute,
    .lower = zn_pixel_lower,
    .work = 12,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("rms", &rms, 4, ZN_MAP(9, 1, 65), ZN_MAP(9, 1, 65), ZN_VECTOR(65)),
        ZN_SAMPLE("layer", &layer, 4, ZN_MAP(9, 1, 33), ZN_MAP(9, 1, 33), ZN_VECTOR(33)),
        ZN_SAMPLE("heads", &bias_heads, 0, ZN_MAP(3, 5, 96), ZN_MAP(3, 5, 96))),
};
