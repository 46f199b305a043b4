// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of group_norm with respect to its statistics, [n, groups, 2]:
//
//     d mean = -rstd * sum(dy gamma)        d rstd = sum(dy gamma (x - mean))
//
// over the pixels and channels of each group.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

enum { DY, X, STATS, GAMMA, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_same_shape(node, DY, X, err));
    ZN_TRY(zn_check_stats(node, STATS, err));
    ZN_TRY(zn_check_vector(node, GAMMA, node->inputs[DY]->desc.shape.dim[3], err));
    node->desc = zn_desc_make(ZN_F32, node->inputs[STATS]->desc.shape);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
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
static void add_row(const zn_node *node, const float *const *inputs, double *sums)
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

static void finish(const zn_node *node, const float *const *values, const double *sums, float *dst)
{
    for (int64_t g = 0; g < node->desc.shape.dim[1]; g++) {
        const double mean = (double)values[STATS][2 * g], rstd = (double)values[STATS][2 * g + 1];
        dst[2 * g] = (float)(-rstd * sums[2 * g]);
        dst[2 * g + 1] = (float)(sums[2 * g + 1] - mean * sums[2 * g]);
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const size_t groups = (size_t)request->node->desc.shape.dim[1];
    return zn_sum_lower(request, 2 * groups, add_row, finish, out, err);
}

#define SAMPLE(label, h, w, c, groups)                                                             \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS,                                                     \
        .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, c}}, {3, {1, groups, 2}}, {1, {c}}},           \
        .parameters = 8                                                                            \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", 1, 1, 3, 1),
    SAMPLE("odd", 5, 7, 12, 4),
    SAMPLE("wide", 4, 37, 64, 32),
};

const zn_op zn_op_group_norm_stats_gradient = {
    .name = "group_norm_stats_gradient",
    .summary = "the gradient of group_norm with respect to mean and inverse deviation",
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_flops_of_input,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
