// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How far normal distributions N(mean, exp(logvar)) are from N(0, 1): the Kullback-Leibler divergence
// 0.5 * (mean^2 + exp(logvar) - 1 - logvar) of each element, and its mean over all elements of the map,
// places and channels alike. diffusers' DiagonalGaussianDistribution.kl is the sum over them: a weight for
// that, times the elements of a latent, is the weight for this. The mean does not change with the crop.
#include "src/op/loss/loss_rules.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { MEAN, LOGVAR, INPUTS };

static double divergence(double mean, double logvar)
{
    return 0.5 * (mean * mean + exp(logvar) - 1 - logvar);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    zn_loss_pair_reference(inputs, output, divergence);
}

static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    zn_loss_pair_row(node, inputs, sums, divergence);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_sum_lower(request, 1, add_row, zn_loss_mean, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_kl_loss_gradient(graph, node->name, node->inputs[input], dy,
                               input == MEAN ? ZN_MOMENT_MEAN : ZN_MOMENT_LOGVAR);
}

static const zn_op_sample samples[] = {
    {.name = "odd", .inputs_count = INPUTS, .inputs = {{4, {1, 5, 7, 3}}, {4, {1, 5, 7, 3}}}},
    {.name = "even", .inputs_count = INPUTS, .inputs = {{4, {1, 2, 5, 8}}, {4, {1, 2, 5, 8}}}},
};

const zn_op zn_op_kl_loss = {
    .name = "kl_loss",
    .summary = "mean of (mean^2 + exp(logvar) - 1 - logvar) / 2",
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

zn_node *zn_kl_loss(zn_graph *graph, const char *name, zn_node *mean, zn_node *logvar)
{
    return zn_graph_add(graph, &zn_op_kl_loss, name, (zn_node *[]){mean, logvar}, INPUTS, NULL);
}
