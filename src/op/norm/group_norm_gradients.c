// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of group_norm with respect to gamma: sum(dy (x - mean) rstd) over the pixels, [c].
//
// The gradient of group_norm with respect to its statistics, [n, groups, 2]:
//
//     d mean = -rstd * sum(dy gamma)        d rstd = sum(dy gamma (x - mean))
//
// over the pixels and channels of each group.
//
// The gradient of group_norm with respect to x, its statistics held: dy * gamma * rstd. What the
// statistics add comes through group_stats and row_moments, as in any chain.
#include "src/op/operator.h"

enum { DY, X, STATS, GAMMA };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, GAMMA, GAMMA, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_same_shape(node, DY, X, err));
    ZN_TRY(zn_check_stats(node, STATS, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(node->inputs[DY]->desc.shape.dim[3]));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = inputs[DY].desc.shape.dim;
    const size_t count = zn_value_count(&inputs[DY]), channels = (size_t)dim[3];
    for (size_t channel = 0; channel < channels; channel++) {
        double sum = 0;
        for (size_t i = channel; i < count; i += channels) {
            const int64_t image = (int64_t)(i / channels) / (dim[1] * dim[2]);
            const size_t group = zn_group_of(node, STATS, image, (int64_t)channel);
            const double mean = (double)zn_value_get(&inputs[STATS], 2 * group);
            const double rstd = (double)zn_value_get(&inputs[STATS], 2 * group + 1);
            sum += (double)zn_value_get(&inputs[DY], i) *
                   ((double)zn_value_get(&inputs[X], i) - mean) * rstd;
        }
        zn_value_set(output, channel, (float)sum);
    }
}

// sums: of dy, and of dy x, of each channel.
static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    const int64_t *dim = node->inputs[DY]->desc.shape.dim;
    const float *dy = inputs[DY], *x = inputs[X];
    for (int64_t p = 0; p < dim[2]; p++) {
        for (int64_t c = 0; c < dim[3]; c++, dy++, x++) {
            sums[2 * c] += (double)*dy;
            sums[2 * c + 1] += (double)*dy * (double)*x;
        }
    }
}

static void finish(const zn_node *node, const float *const *values, const double *sums, float *dst)
{
    const int64_t channels = node->desc.shape.dim[0];
    for (int64_t c = 0; c < channels; c++) {
        const float *pair = values[STATS] + 2 * zn_group_of(node, STATS, 0, c);
        dst[c] = (float)((sums[2 * c + 1] - (double)pair[0] * sums[2 * c]) * (double)pair[1]);
    }
}

static size_t sums_of(const zn_node *node)
{
    return 2 * (size_t)node->desc.shape.dim[0];
}

const zn_op zn_op_group_norm_scale_gradient = {
    .name = "group_norm_scale_gradient",
    .summary = "the gradient of group_norm with respect to gamma",
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .add_row = add_row,
    .finish = finish,
    .sums = sums_of,
    .lower = zn_sum_lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 3), {3, {1, 1, 2}}),
        ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 12), ZN_MAP(5, 7, 12), {3, {1, 4, 2}}),
        ZN_SAMPLE("wide", NULL, 0, ZN_MAP(4, 37, 64), ZN_MAP(4, 37, 64), {3, {1, 32, 2}})),
};

static zenith_status stats_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, GAMMA + 1, GAMMA + 1, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_same_shape(node, DY, X, err));
    ZN_TRY(zn_check_stats(node, STATS, err));
    ZN_TRY(zn_check_vector(node, GAMMA, node->inputs[DY]->desc.shape.dim[3], err));
    node->desc = zn_desc_make(ZN_F32, node->inputs[STATS]->desc.shape);
    return ZENITH_OK;
}

static void stats_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = inputs[DY].desc.shape.dim;
    const size_t count = zn_value_count(&inputs[DY]), groups = zn_value_count(output) / 2;
    for (size_t group = 0; group < groups; group++) {
        const double mean = (double)zn_value_get(&inputs[STATS], 2 * group);
        const double rstd = (double)zn_value_get(&inputs[STATS], 2 * group + 1);
        double sum = 0, product = 0;
        for (size_t i = 0; i < count; i++) {
            const int64_t channel = (int64_t)i % dim[3];
            const int64_t image = (int64_t)i / dim[3] / (dim[1] * dim[2]);
            if (zn_group_of(node, STATS, image, channel) != group) continue;
            const double d = (double)zn_value_get(&inputs[DY], i) *
                             (double)zn_value_get(&inputs[GAMMA], (size_t)channel);
            sum += d;
            product += d * ((double)zn_value_get(&inputs[X], i) - mean);
        }
        zn_value_set(output, 2 * group, (float)(-rstd * sum));
        zn_value_set(output, 2 * group + 1, (float)product);
    }
}

// sums: of dy gamma, and of dy gamma x, of each group.
static void stats_add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    const int64_t *dim = node->inputs[DY]->desc.shape.dim;
    const int64_t groups = node->desc.shape.dim[1], size = dim[3] / groups;
    const float *dy = inputs[DY], *x = inputs[X], *gamma = inputs[GAMMA];
    for (int64_t p = 0; p < dim[2]; p++) {
        for (int64_t g = 0, c = 0; g < groups; g++) {
            double sum = sums[2 * g], product = sums[2 * g + 1];
            for (const int64_t end = c + size; c < end; c++, dy++, x++) {
                const double d = (double)*dy * (double)gamma[c];
                sum += d;
                product += d * (double)*x;
            }
            sums[2 * g] = sum;
            sums[2 * g + 1] = product;
        }
    }
}

static void stats_finish(const zn_node *node, const float *const *values, const double *sums,
                         float *dst)
{
    for (int64_t g = 0; g < node->desc.shape.dim[1]; g++) {
        const double mean = (double)values[STATS][2 * g], rstd = (double)values[STATS][2 * g + 1];
        dst[2 * g] = (float)(-rstd * sums[2 * g]);
        dst[2 * g + 1] = (float)(sums[2 * g + 1] - mean * sums[2 * g]);
    }
}

const zn_op zn_op_group_norm_stats_gradient = {
    .name = "group_norm_stats_gradient",
    .summary = "the gradient of group_norm with respect to mean and inverse deviation",
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = stats_infer,
    .rows = zn_rows_whole,
    .reference = stats_reference,
    .add_row = stats_add_row,
    .finish = stats_finish,
    .lower = zn_sum_lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", NULL, 8, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 3), {3, {1, 1, 2}}, ZN_VECTOR(3)),
        ZN_SAMPLE("odd", NULL, 8, ZN_MAP(5, 7, 12), ZN_MAP(5, 7, 12), {3, {1, 4, 2}},
                  ZN_VECTOR(12)),
        ZN_SAMPLE("wide", NULL, 8, ZN_MAP(4, 37, 64), ZN_MAP(4, 37, 64), {3, {1, 32, 2}},
                  ZN_VECTOR(64))),
};

enum { GRADIENT_STATS = 1, GRADIENT_GAMMA, GRADIENT_INPUTS }; // of the gradient of x

static zenith_status gradient_infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, GRADIENT_INPUTS, GRADIENT_INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_stats(node, GRADIENT_STATS, err));
    ZN_TRY(zn_check_vector(node, GRADIENT_GAMMA, node->inputs[DY]->desc.shape.dim[3], err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const int64_t *dim = node->desc.shape.dim;
    const int64_t groups = node->inputs[GRADIENT_STATS]->desc.shape.dim[1], size = dim[3] / groups;
    const float *dy = inputs[DY], *gamma = inputs[GRADIENT_GAMMA];
    for (int64_t x = 0; x < dim[2]; x++) {
        const float *factor = gamma;
        for (int64_t g = 0; g < groups; g++) { // no division in here: it took longer than the rest
            const float rstd = inputs[GRADIENT_STATS][2 * g + 1];
            for (int64_t i = 0; i < size; i++) *dst++ = *dy++ * (*factor++ * rstd);
        }
    }
}

const zn_op zn_op_group_norm_gradient = {
    .name = "group_norm_gradient",
    .summary = "the gradient times gamma and the inverse deviation of each group",
    .result_types = ZN_MAP_TYPES,
    .infer = gradient_infer,
    .row = row,
    .lower = zn_row_lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", NULL, 4, ZN_MAP(1, 1, 3), {3, {1, 1, 2}}, ZN_VECTOR(3)),
        ZN_SAMPLE("odd", NULL, 4, ZN_MAP(5, 7, 12), {3, {1, 4, 2}}, ZN_VECTOR(12)),
        ZN_SAMPLE("wide", NULL, 4, ZN_MAP(4, 37, 64), {3, {1, 32, 2}}, ZN_VECTOR(64))),
};
