// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of group_stats with respect to the moments of each row, [n, h, groups, 2]. From
// mean = S / N and rstd = (Q / N - mean^2 + epsilon)^(-1/2), for every row the same:
//
//     d S = (d mean + mean rstd^3 d rstd) / N        d Q = -rstd^3 d rstd / (2 N)
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

enum { DSTATS, STATS, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_group_stats_gradient_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_same_shape(node, DSTATS, STATS, err));
    const zn_shape *stats = &node->inputs[STATS]->desc.shape;
    if (stats->rank != 3 || stats->dim[2] != 2 || a->rows < 1 || a->elements_per_row < 1)
        return zn_fail(err, ZENITH_INTERNAL, "group_stats_gradient needs statistics of groups");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(stats->dim[0], a->rows, stats->dim[1], 2));
    return ZENITH_OK;
}

// Of some rows of the result, or all.
static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_group_stats_gradient_attributes *a = node->attributes;
    const int64_t *dim = output->desc.shape.dim;
    const double count = (double)a->rows * (double)a->elements_per_row;
    size_t next = 0;
    for (int64_t row = 0; row < dim[0] * dim[1]; row++) {
        for (int64_t group = 0; group < dim[2]; group++, next += 2) {
            const size_t at = 2 * (size_t)(row / dim[1] * dim[2] + group);
            const double mean = (double)zn_value_get(&inputs[STATS], at);
            const double rstd = (double)zn_value_get(&inputs[STATS], at + 1);
            const double bend = rstd * rstd * rstd * (double)zn_value_get(&inputs[DSTATS], at + 1);
            const double dmean = (double)zn_value_get(&inputs[DSTATS], at);
            zn_value_set(output, next, (float)((dmean + mean * bend) / count));
            zn_value_set(output, next + 1, (float)(-bend / (2 * count)));
        }
    }
}

static const zn_group_stats_gradient_attributes few = {1, 1}, usual = {7, 40};
static const zn_op_sample samples[] = {
    {.name = "pixel",
     .inputs_count = INPUTS,
     .inputs = {{3, {1, 1, 2}}, {3, {1, 1, 2}}},
     .attributes = &few},
    {.name = "odd",
     .inputs_count = INPUTS,
     .inputs = {{3, {1, 5, 2}}, {3, {1, 5, 2}}},
     .attributes = &usual},
};

const zn_op zn_op_group_stats_gradient = {
    .name = "group_stats_gradient",
    .summary = "the gradient of mean and inverse deviation with respect to each row's moments",
    .attributes_size = sizeof(zn_group_stats_gradient_attributes),
    .traits = ZN_OP_FIXED,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .reference = reference,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
