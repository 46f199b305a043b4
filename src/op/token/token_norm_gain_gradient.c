// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of rms_norm and layer_norm with respect to the gain: the sum of dy (x - mean) r over
// all tokens and their groups, [channels of a group].
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"
#include "src/op/token/token_checks.h"
#include "src/op/token/token_norm_op.h"

enum { DY, X, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_token_norm_parts *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
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

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const size_t width = (size_t)request->node->desc.shape.dim[0];
    return zn_sum_lower(request, width, add_row, NULL, out, err);
}

static double flops(const zn_node *node)
{
    return 5 * zn_flops_of_input(node);
}

static const zn_token_norm_parts rms = {1, 1e-6f, false, true, false},
                                 heads = {4, 1e-5f, true, true, false};
// clang-format off
#define MAP(h, w, c) {4, {1, h, w, c}}
static const zn_op_sample samples[] = {
    {.name = "rms", .inputs_count = 2, .inputs = {MAP(70, 1, 33), MAP(70, 1, 33)}, .attributes = &rms},
    {.name = "heads", .inputs_count = 2, .inputs = {MAP(3, 5, 96), MAP(3, 5, 96)},
     .attributes = &heads},
};
// clang-format on

const zn_op zn_op_token_norm_gain_gradient = {
    .name = "token_norm_gain_gradient",
    .summary = "the gradient of rms_norm and layer_norm with respect to the gain",
    .attributes_size = sizeof(zn_token_norm_parts),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
