// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of group_norm with respect to gamma: sum(dy (x - mean) rstd) over the pixels, [c].
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

enum { DY, X, STATS, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
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

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const size_t channels = (size_t)request->node->desc.shape.dim[0];
    return zn_sum_lower(request, 2 * channels, add_row, finish, out, err);
}

#define SAMPLE(label, h, w, c, groups)                                                             \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS, .inputs = {                                         \
            {4, {1, h, w, c}},                                                                     \
            {4, {1, h, w, c}},                                                                     \
            {3, {1, groups, 2}}                                                                    \
        }                                                                                          \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", 1, 1, 3, 1),
    SAMPLE("odd", 5, 7, 12, 4),
    SAMPLE("wide", 4, 37, 64, 32),
};

const zn_op zn_op_group_norm_scale_gradient = {
    .name = "group_norm_scale_gradient",
    .summary = "the gradient of group_norm with respect to gamma",
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
