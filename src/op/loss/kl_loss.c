// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How far normal distributions N(mean, exp(logvar)) are from N(0, 1): the Kullback-Leibler
// divergence 0.5 * (mean^2 + exp(logvar) - 1 - logvar) of each element, and its mean over all
// elements of the map, places and channels alike. diffusers' DiagonalGaussianDistribution.kl is the
// sum over them: a weight for that, times the elements of a latent, is the weight for this. The
// mean does not change with the crop.
#include "src/op/loss/loss_rules.h"

#include <math.h>

enum { MEAN, LOGVAR, INPUTS };

static double divergence(const void *how, double mean, double logvar)
{
    (void)how;
    return 0.5 * (mean * mean + exp(logvar) - 1 - logvar);
}

// By the mean, or by the logarithm of the variance.
static float slope(const void *how, float x, float same)
{
    (void)same;
    return ((const zn_moment_attributes *)how)->which == ZN_MOMENT_MEAN ? x : 0.5f * expm1f(x);
}

static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    zn_loss_add_row(node, inputs, sums, divergence);
}

static void gradient_row(const zn_node *node, const float *const *inputs, float *dst)
{
    zn_loss_gradient_row(node, inputs, dst, slope);
}

static const zn_moment_attributes mean_ = {ZN_MOMENT_MEAN}, logvar_ = {ZN_MOMENT_LOGVAR};

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_add(graph, &zn_op_kl_loss_gradient, node->name,
                        (zn_node *[]){node->inputs[input], dy}, 2,
                        input == MEAN ? &mean_ : &logvar_);
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    return zn_loss_infer(node, INPUTS, err);
}

static zenith_status infer_gradient(zn_node *node, zn_error *err)
{
    return zn_loss_infer_gradient(node, 1, err);
}

const zn_op zn_op_kl_loss = {
    .name = "kl_loss",
    .summary = "mean of (mean^2 + exp(logvar) - 1 - logvar) / 2",
    .infer = infer,
    .add_row = add_row,
    .gradient = gradient,
    ZN_LOSS_FIELDS,
    .samples = ZN_SAMPLES(ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("even", NULL, 0, ZN_MAP(2, 5, 8), ZN_MAP(2, 5, 8))),
};

const zn_op zn_op_kl_loss_gradient = {
    .name = "kl_loss_gradient",
    .summary = "the gradient of kl_loss",
    .attributes_size = sizeof(zn_moment_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer_gradient,
    ZN_LOSS_GRADIENT_FIELDS,
    .samples = ZN_SAMPLES(ZN_SAMPLE("mean", &mean_, 0, ZN_MAP(5, 7, 3), ZN_VECTOR(1)),
                          ZN_SAMPLE("logvar", &logvar_, 0, ZN_MAP(4, 19, 16), ZN_VECTOR(1))),
};

zn_node *zn_kl_loss(zn_graph *graph, const char *name, zn_node *mean, zn_node *logvar)
{
    return zn_graph_add(graph, &zn_op_kl_loss, name, (zn_node *[]){mean, logvar}, INPUTS, NULL);
}
