// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How badly scores tell yes from no: the mean over all elements of -log(p) where the label is 1 and
// of -log(1 - p) where it is 0, p = 1 / (1 + exp(-score)). As softplus(score) - label * score it
// overflows nowhere.
//
// The gradient: dloss / elements times p - label by its scores, times -score by its labels.
#include "src/op/loss/loss_rules.h"

#include <math.h>

enum { SCORES, LABELS, INPUTS };

static double worth(const void *how, double score, double label)
{
    (void)how;
    return fmax(score, 0) - score * label + log1p(exp(-fabs(score)));
}

static float slope(const void *how, float score, float label)
{
    if (((const zn_logistic_attributes *)how)->of_labels) return -score;
    const double e = exp(-fabs((double)score));
    const double p = score >= 0 ? 1 / (1 + e) : e / (1 + e);
    return (float)(p - (double)label);
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
    return zn_graph_add(graph, &zn_op_logistic_loss_gradient, node->name,
                        (zn_node *[]){node->inputs[SCORES], node->inputs[LABELS], dy}, INPUTS + 1,
                        &(zn_logistic_attributes){input == LABELS});
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    return zn_loss_infer(node, INPUTS, err);
}

static zenith_status infer_gradient(zn_node *node, zn_error *err)
{
    return zn_loss_infer_gradient(node, INPUTS, err);
}

static const zn_logistic_attributes of_scores = {false}, of_labels = {true};

const zn_op zn_op_logistic_loss = {
    .name = "logistic_loss",
    .summary = "mean of -log(p) where the label is 1, of -log(1 - p) where it is 0; p is the "
               "logistic function of a score",
    .infer = infer,
    .add_row = add_row,
    .gradient = gradient,
    ZN_LOSS_FIELDS,
    .samples = ZN_SAMPLES(ZN_SAMPLE("rows", NULL, 0, ZN_MAP(9, 1, 5), ZN_MAP(9, 1, 5)),
                          ZN_SAMPLE("map", NULL, 0, ZN_MAP(3, 7, 2), ZN_MAP(3, 7, 2))),
};

const zn_op zn_op_logistic_loss_gradient = {
    .name = "logistic_loss_gradient",
    .summary = "the gradient of logistic_loss",
    .attributes_size = sizeof(zn_logistic_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer_gradient,
    ZN_LOSS_GRADIENT_FIELDS,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("scores", &of_scores, 0, ZN_MAP(9, 1, 5), ZN_MAP(9, 1, 5), ZN_VECTOR(1)),
        ZN_SAMPLE("labels", &of_labels, 0, ZN_MAP(3, 7, 2), ZN_MAP(3, 7, 2), ZN_VECTOR(1))),
};

zn_node *zn_logistic_loss(zn_graph *graph, const char *name, zn_node *scores, zn_node *labels)
{
    return zn_graph_add(graph, &zn_op_logistic_loss, name, (zn_node *[]){scores, labels}, INPUTS,
                        NULL);
}
