// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a map of scores is worth: the mean over all elements of max(margin - x, 0) for scores that
// should be high, of max(margin + x, 0) for those that should be low, or of -x. The first two teach a
// discriminator, which has nothing to gain beyond the margin; the third is for what it judges.
#include "src/op/loss/loss_rules.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_one_map(node, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(1));
    return ZENITH_OK;
}

static double worth(const zn_hinge_attributes *a, double x)
{
    if (a->kind == ZN_HINGE_NONE) return -x;
    const double z = (double)a->margin + (a->kind == ZN_HINGE_HIGH ? -x : x);
    return z < 0 ? 0 : z;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t count = zn_value_count(&inputs[0]);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += worth(node->attributes, (double)zn_value_get(&inputs[0], i));
    zn_value_set(output, 0, (float)(sum / (double)count));
}

static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    for (int64_t i = 0; i < dim[2] * dim[3]; i++)
        *sums += worth(node->attributes, (double)inputs[0][i]);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_sum_lower(request, 1, add_row, zn_loss_mean, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_hinge_loss_gradient(graph, node->name, node->inputs[input], dy, node->attributes);
}

static const zn_hinge_attributes high = {ZN_HINGE_HIGH, 0.125f}, low = {ZN_HINGE_LOW, 0.125f},
                                 none = {ZN_HINGE_NONE, 0};
static const zn_op_sample samples[] = {
    {.name = "high", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 3}}}, .attributes = &high},
    {.name = "low", .inputs_count = 1, .inputs = {{4, {1, 4, 19, 1}}}, .attributes = &low},
    {.name = "none", .inputs_count = 1, .inputs = {{4, {1, 3, 9, 1}}}, .attributes = &none},
};

const zn_op zn_op_hinge_loss = {
    .name = "hinge_loss",
    .summary = "mean of max(margin - x, 0), of max(margin + x, 0), or of -x",
    .attributes_size = sizeof(zn_hinge_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_flops_of_input,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_hinge_loss(zn_graph *graph, const char *name, zn_node *x, zn_hinge_attributes how)
{
    return zn_graph_add(graph, &zn_op_hinge_loss, name, &x, 1, &how);
}
