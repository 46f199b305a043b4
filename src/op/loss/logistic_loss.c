// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How badly scores tell yes from no: the mean over all elements of -log(p) where the label is 1 and of -log(1 - p)
// where it is 0, p = 1 / (1 + exp(-score)). As softplus(score) - label * score it overflows nowhere.
#include "src/op/loss/loss_rules.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { SCORES, LABELS, INPUTS };

static double worth(double score, double label)
{
    return fmax(score, 0) - score * label + log1p(exp(-fabs(score)));
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    zn_loss_pair_reference(inputs, output, worth);
}

static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    zn_loss_pair_row(node, inputs, sums, worth);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_sum_lower(request, 1, add_row, zn_loss_mean, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_logistic_loss_gradient(graph, node->name, node->inputs[SCORES], node->inputs[LABELS],
                                     dy, input == LABELS);
}

static const zn_op_sample samples[] = {
    {.name = "rows", .inputs_count = INPUTS, .inputs = {{4, {1, 9, 1, 5}}, {4, {1, 9, 1, 5}}}},
    {.name = "map", .inputs_count = INPUTS, .inputs = {{4, {1, 3, 7, 2}}, {4, {1, 3, 7, 2}}}},
};

const zn_op zn_op_logistic_loss = {
    .name = "logistic_loss",
    .summary = "mean of -log(p) where the label is 1, of -log(1 - p) where it is 0; p is the "
               "logistic function of a score",
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

zn_node *zn_logistic_loss(zn_graph *graph, const char *name, zn_node *scores, zn_node *labels)
{
    return zn_graph_add(graph, &zn_op_logistic_loss, name, (zn_node *[]){scores, labels}, INPUTS,
                        NULL);
}
