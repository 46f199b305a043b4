// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a map of scores is worth: the mean over all elements of max(margin - x, 0) for scores that
// should be high, of max(margin + x, 0) for those that should be low, or of -x. The first two teach
// a discriminator, which has nothing to gain beyond the margin; the third is for what it judges.
#include "src/op/loss/loss_rules.h"

static double worth(const void *how, double x, double same)
{
    const zn_hinge_attributes *a = how;
    (void)same;
    if (a->kind == ZN_HINGE_NONE) return -x;
    const double z = (double)a->margin + (a->kind == ZN_HINGE_HIGH ? -x : x);
    return z < 0 ? 0 : z;
}

static float slope(const void *how, float x, float same)
{
    const zn_hinge_attributes *a = how;
    (void)same;
    if (a->kind == ZN_HINGE_NONE) return -1;
    if (a->kind == ZN_HINGE_HIGH) return x < a->margin ? -1 : 0;
    return x > -a->margin ? 1 : 0;
}

static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    zn_loss_add_row(node, inputs, sums, worth);
}

static void gradient_row(const zn_node *node, const float *const *inputs, float *dst)
{
    zn_loss_gradient_row(node, inputs, dst, slope);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_add(graph, &zn_op_hinge_loss_gradient, node->name,
                        (zn_node *[]){node->inputs[input], dy}, 2, node->attributes);
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    return zn_loss_infer(node, 1, err);
}

static zenith_status infer_gradient(zn_node *node, zn_error *err)
{
    return zn_loss_infer_gradient(node, 1, err);
}

static const zn_hinge_attributes high = {ZN_HINGE_HIGH, 0.125f}, low = {ZN_HINGE_LOW, 0.125f},
                                 none = {ZN_HINGE_NONE, 0};

const zn_op zn_op_hinge_loss = {
    .name = "hinge_loss",
    .summary = "mean of max(margin - x, 0), of max(margin + x, 0), or of -x",
    .attributes_size = sizeof(zn_hinge_attributes),
    .infer = infer,
    .add_row = add_row,
    .gradient = gradient,
    ZN_LOSS_FIELDS,
    .samples = ZN_SAMPLES(ZN_SAMPLE("high", &high, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("low", &low, 0, ZN_MAP(4, 19, 1)),
                          ZN_SAMPLE("none", &none, 0, ZN_MAP(3, 9, 1))),
};

const zn_op zn_op_hinge_loss_gradient = {
    .name = "hinge_loss_gradient",
    .summary = "the gradient of hinge_loss",
    .attributes_size = sizeof(zn_hinge_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer_gradient,
    ZN_LOSS_GRADIENT_FIELDS,
    .samples = ZN_SAMPLES(ZN_SAMPLE("high", &high, 0, ZN_MAP(5, 7, 3), ZN_VECTOR(1)),
                          ZN_SAMPLE("low", &low, 0, ZN_MAP(4, 19, 1), ZN_VECTOR(1)),
                          ZN_SAMPLE("none", &none, 0, ZN_MAP(3, 9, 1), ZN_VECTOR(1))),
};

zn_node *zn_hinge_loss(zn_graph *graph, const char *name, zn_node *x, zn_hinge_attributes how)
{
    return zn_graph_add(graph, &zn_op_hinge_loss, name, &x, 1, &how);
}
