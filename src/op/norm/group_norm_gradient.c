// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of group_norm with respect to x, its statistics held: dy * gamma * rstd. What the
// statistics add comes through group_stats and row_moments, as in any chain.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

enum { DY, STATS, GAMMA, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_stats(node, STATS, err));
    ZN_TRY(zn_check_vector(node, GAMMA, node->inputs[DY]->desc.shape.dim[3], err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *dim = inputs[DY].desc.shape.dim;
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const int64_t channel = (int64_t)i % dim[3],
                      image = (int64_t)i / dim[3] / (dim[1] * dim[2]);
        const size_t group = zn_group_of(node, STATS, image, channel);
        const double rstd = (double)zn_value_get(&inputs[STATS], 2 * group + 1);
        const double gamma = (double)zn_value_get(&inputs[GAMMA], (size_t)channel);
        zn_value_set(output, i, (float)((double)zn_value_get(&inputs[DY], i) * gamma * rstd));
    }
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const int64_t *dim = node->desc.shape.dim;
    const int64_t groups = node->inputs[STATS]->desc.shape.dim[1], size = dim[3] / groups;
    const float *dy = inputs[DY], *gamma = inputs[GAMMA];
    for (int64_t x = 0; x < dim[2]; x++) {
        const float *factor = gamma;
        for (int64_t g = 0; g < groups; g++) { // no division in here: it took longer than the rest
            const float rstd = inputs[STATS][2 * g + 1];
            for (int64_t i = 0; i < size; i++) *dst++ = *dy++ * (*factor++ * rstd);
        }
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

#define SAMPLE(label, h, w, c, groups)                                                             \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS,                                                     \
        .inputs = {{4, {1, h, w, c}}, {3, {1, groups, 2}}, {1, {c}}}, .parameters = 4              \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", 1, 1, 3, 1),
    SAMPLE("odd", 5, 7, 12, 4),
    SAMPLE("wide", 4, 37, 64, 32),
};

const zn_op zn_op_group_norm_gradient = {
    .name = "group_norm_gradient",
    .summary = "the gradient times gamma and the inverse deviation of each group",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
