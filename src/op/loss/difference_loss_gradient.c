// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of difference_loss with respect to a: dloss / elements times the sign of a - b (0 where
// they are equal), 2 (a - b), or (a - b) / sqrt((a - b)^2 + epsilon^2).
#include "src/op/loss/loss_rules.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { A, B, DLOSS, INPUTS };

static float slope(const zn_difference_attributes *a, float d)
{
    if (a->kind == ZN_DIFFERENCE_L1) return (float)((d > 0) - (d < 0));
    if (a->kind == ZN_DIFFERENCE_MSE) return 2 * d;
    return d / sqrtf(d * d + a->epsilon * a->epsilon);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const float each = zn_loss_share(node, zn_value_get(&inputs[DLOSS], 0));
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        float d = zn_value_get(&inputs[A], i) - zn_value_get(&inputs[B], i);
        zn_value_set(output, i, each * slope(node->attributes, d));
    }
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const zn_difference_attributes how = *(const zn_difference_attributes *)node->attributes;
    const float each = zn_loss_share(node, *inputs[DLOSS]);
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) dst[i] = each * slope(&how, inputs[A][i] - inputs[B][i]);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

static const zn_difference_attributes l1 = {ZN_DIFFERENCE_L1, 0}, mse = {ZN_DIFFERENCE_MSE, 0},
                                      smooth = {ZN_DIFFERENCE_CHARBONNIER, 3};
#define SAMPLE(label, attribute, h, w, c)                                                          \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS,                                                     \
        .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, c}}, {1, {1}}}, .attributes = &(attribute)     \
    }
static const zn_op_sample samples[] = {
    SAMPLE("l1", l1, 5, 7, 3),
    SAMPLE("mse", mse, 4, 19, 16),
    SAMPLE("charbonnier", smooth, 3, 9, 4),
};

const zn_op zn_op_difference_loss_gradient = {
    .name = "difference_loss_gradient",
    .summary = "the gradient of difference_loss",
    .attributes_size = sizeof(zn_difference_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = zn_loss_infer_pair_gradient,
    .reference = reference,
    .lower = lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_difference_loss_gradient(zn_graph *graph, const char *name, zn_node *a, zn_node *b,
                                     zn_node *dloss, const zn_difference_attributes *how)
{
    return zn_graph_add(graph, &zn_op_difference_loss_gradient, name, (zn_node *[]){a, b, dloss},
                        INPUTS, how);
}
