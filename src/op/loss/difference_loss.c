// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How far two maps are apart: the mean over all elements of |a - b|, of (a - b)^2, or of
// sqrt((a - b)^2 + epsilon^2) (Charbonnier: an L1 that is smooth at 0).
#include "src/op/loss/loss_rules.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { A, B, INPUTS };

static double distance(const zn_difference_attributes *a, double d)
{
    if (a->kind == ZN_DIFFERENCE_L1) return fabs(d);
    if (a->kind == ZN_DIFFERENCE_MSE) return d * d;
    return sqrt(d * d + (double)a->epsilon * (double)a->epsilon);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t count = zn_value_count(&inputs[A]);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += distance(node->attributes,
                        (double)zn_value_get(&inputs[A], i) - (double)zn_value_get(&inputs[B], i));
    }
    zn_value_set(output, 0, (float)(sum / (double)count));
}

// Lanes of sums, so that the loop is vectors; they are added in order at the end of the row.
static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    enum { LANES = 8 };
    const zn_difference_attributes *a = node->attributes;
    const int64_t *dim = node->inputs[A]->desc.shape.dim;
    const int64_t count = dim[2] * dim[3];
    double lanes[LANES] = {0};
    int64_t i = 0;
    if (a->kind == ZN_DIFFERENCE_MSE) {
        for (; i + LANES <= count; i += LANES) {
            for (int k = 0; k < LANES; k++) {
                double d = (double)inputs[A][i + k] - (double)inputs[B][i + k];
                lanes[k] += d * d;
            }
        }
    }
    for (; i < count; i++)
        lanes[i % LANES] += distance(a, (double)inputs[A][i] - (double)inputs[B][i]);
    for (int k = 0; k < LANES; k++) *sums += lanes[k];
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_sum_lower(request, 1, add_row, zn_loss_mean, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_difference_loss_gradient(graph, node->name, node->inputs[input],
                                       node->inputs[1 - input], dy, node->attributes);
}

static const zn_difference_attributes l1 = {ZN_DIFFERENCE_L1, 0}, mse = {ZN_DIFFERENCE_MSE, 0},
                                      smooth = {ZN_DIFFERENCE_CHARBONNIER, 1e-3f};
#define SAMPLE(label, attribute, h, w, c)                                                          \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS, .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, c}}},   \
        .attributes = &(attribute)                                                                 \
    }
static const zn_op_sample samples[] = {
    SAMPLE("l1", l1, 5, 7, 3),
    SAMPLE("mse", mse, 4, 19, 16),
    SAMPLE("charbonnier", smooth, 3, 9, 4),
};

const zn_op zn_op_difference_loss = {
    .name = "difference_loss",
    .summary = "mean distance of two maps: L1, squared, or Charbonnier",
    .attributes_size = sizeof(zn_difference_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = zn_loss_infer_pair,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_flops_of_input,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_difference_loss(zn_graph *graph, const char *name, zn_node *a, zn_node *b,
                            zn_difference_attributes how)
{
    return zn_graph_add(graph, &zn_op_difference_loss, name, (zn_node *[]){a, b}, INPUTS, &how);
}
