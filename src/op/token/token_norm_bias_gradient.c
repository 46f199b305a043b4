// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of layer_norm with respect to the bias: the sum of dy over all tokens and their groups,
// [channels of a group].
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"
#include "src/op/token/token_checks.h"
#include "src/op/token/token_norm_op.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_token_norm_parts *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_token_groups(node, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(zn_group_width(node, a->groups)));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    const size_t width = zn_value_count(output), count = zn_value_count(&inputs[0]);
    for (size_t c = 0; c < width; c++) {
        double sum = 0;
        for (size_t i = c; i < count; i += width) sum += (double)zn_value_get(&inputs[0], i);
        zn_value_set(output, c, (float)sum);
    }
}

static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    const size_t width = (size_t)node->desc.shape.dim[0];
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const float *dy = inputs[0], *end = dy + dim[2] * dim[3];
    for (; dy < end; dy += width)
        for (size_t i = 0; i < width; i++) sums[i] += (double)dy[i];
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const size_t width = (size_t)request->node->desc.shape.dim[0];
    return zn_sum_lower(request, width, add_row, NULL, out, err);
}

static const zn_token_norm_parts one = {1, 1e-5f, true, false, false},
                                 heads = {4, 1e-5f, true, false, false};
static const zn_op_sample samples[] = {
    {.name = "tokens", .inputs_count = 1, .inputs = {{4, {1, 70, 1, 33}}}, .attributes = &one},
    {.name = "heads", .inputs_count = 1, .inputs = {{4, {1, 3, 5, 96}}}, .attributes = &heads},
};

const zn_op zn_op_token_norm_bias_gradient = {
    .name = "token_norm_bias_gradient",
    .summary = "the gradient of layer_norm with respect to the bias",
    .attributes_size = sizeof(zn_token_norm_parts),
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
