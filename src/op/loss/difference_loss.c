// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How far two maps are apart: the mean over all elements of |a - b|, of (a - b)^2, or of
// sqrt((a - b)^2 + epsilon^2) (Charbonnier: an L1 that is smooth at 0).
//
// The gradient with respect to a: dloss / elements times the sign of a - b (0 where they are
// equal), 2 (a - b), or (a - b) / sqrt((a - b)^2 + epsilon^2).
#include "src/op/loss/loss_rules.h"

#include <math.h>

enum { A, B, INPUTS };

static double distance(const zn_difference_attributes *a, double d)
{
    if (a->kind == ZN_DIFFERENCE_L1) return fabs(d);
    if (a->kind == ZN_DIFFERENCE_MSE) return d * d;
    return sqrt(d * d + (double)a->epsilon * (double)a->epsilon);
}

static float slope(const void *how, float a, float b)
{
    const zn_difference_attributes *h = how;
    const float d = a - b;
    if (h->kind == ZN_DIFFERENCE_L1) return (float)((d > 0) - (d < 0));
    if (h->kind == ZN_DIFFERENCE_MSE) return 2 * d;
    return d / sqrtf(d * d + h->epsilon * h->epsilon);
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

static void gradient_row(const zn_node *node, const float *const *inputs, float *dst)
{
    zn_loss_gradient_row(node, inputs, dst, slope);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_add(graph, &zn_op_difference_loss_gradient, node->name,
                        (zn_node *[]){node->inputs[input], node->inputs[1 - input], dy}, INPUTS + 1,
                        node->attributes);
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    return zn_loss_infer(node, INPUTS, err);
}

static zenith_status infer_gradient(zn_node *node, zn_error *err)
{
    return zn_loss_infer_gradient(node, INPUTS, err);
}

static const zn_difference_attributes l1 = {ZN_DIFFERENCE_L1, 0}, mse = {ZN_DIFFERENCE_MSE, 0},
                                      smooth = {ZN_DIFFERENCE_CHARBONNIER, 1e-3f},
                                      smoother = {ZN_DIFFERENCE_CHARBONNIER, 3};

const zn_op zn_op_difference_loss = {
    .name = "difference_loss",
    .summary = "mean distance of two maps: L1, squared, or Charbonnier",
    .attributes_size = sizeof(zn_difference_attributes),
    .infer = infer,
    .add_row = add_row,
    .gradient = gradient,
    ZN_LOSS_FIELDS,
    .samples = ZN_SAMPLES(ZN_SAMPLE("l1", &l1, 0, ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("mse", &mse, 0, ZN_MAP(4, 19, 16), ZN_MAP(4, 19, 16)),
                          ZN_SAMPLE("charbonnier", &smooth, 0, ZN_MAP(3, 9, 4), ZN_MAP(3, 9, 4))),
};

const zn_op zn_op_difference_loss_gradient = {
    .name = "difference_loss_gradient",
    .summary = "the gradient of difference_loss",
    .attributes_size = sizeof(zn_difference_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer_gradient,
    ZN_LOSS_GRADIENT_FIELDS,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("l1", &l1, 0, ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3), ZN_VECTOR(1)),
        ZN_SAMPLE("mse", &mse, 0, ZN_MAP(4, 19, 16), ZN_MAP(4, 19, 16), ZN_VECTOR(1)),
        ZN_SAMPLE("charbonnier", &smoother, 0, ZN_MAP(3, 9, 4), ZN_MAP(3, 9, 4), ZN_VECTOR(1))),
};

zn_node *zn_difference_loss(zn_graph *graph, const char *name, zn_node *a, zn_node *b,
                            zn_difference_attributes how)
{
    return zn_graph_add(graph, &zn_op_difference_loss, name, (zn_node *[]){a, b}, INPUTS, &how);
}
