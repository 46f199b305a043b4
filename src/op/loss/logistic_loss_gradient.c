// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of logistic_loss: dloss / elements times p - label by its scores, times -score by its labels.
#include "src/op/loss/loss_rules.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { SCORES, LABELS, DLOSS, INPUTS };

static float slope(const zn_logistic_attributes *a, float score, float label)
{
    if (a->of_labels) return -score;
    const double e = exp(-fabs((double)score));
    const double p = score >= 0 ? 1 / (1 + e) : e / (1 + e);
    return (float)(p - (double)label);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const float each = zn_loss_share(node, zn_value_get(&inputs[DLOSS], 0));
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++)
        zn_value_set(output, i,
                     each * slope(node->attributes, zn_value_get(&inputs[SCORES], i),
                                  zn_value_get(&inputs[LABELS], i)));
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const float each = zn_loss_share(node, *inputs[DLOSS]);
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++)
        dst[i] = each * slope(node->attributes, inputs[SCORES][i], inputs[LABELS][i]);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

static const zn_logistic_attributes of_scores = {false}, of_labels = {true};
#define SAMPLE(label, attribute, h, w, c)                                                          \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS,                                                     \
        .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, c}}, {1, {1}}}, .attributes = &(attribute)     \
    }
static const zn_op_sample samples[] = {
    SAMPLE("scores", of_scores, 9, 1, 5),
    SAMPLE("labels", of_labels, 3, 7, 2),
};

const zn_op zn_op_logistic_loss_gradient = {
    .name = "logistic_loss_gradient",
    .summary = "the gradient of logistic_loss",
    .attributes_size = sizeof(zn_logistic_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = zn_loss_infer_pair_gradient,
    .reference = reference,
    .lower = lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_logistic_loss_gradient(zn_graph *graph, const char *name, zn_node *scores,
                                   zn_node *labels, zn_node *dloss, bool by_labels)
{
    return zn_graph_add(graph, &zn_op_logistic_loss_gradient, name,
                        (zn_node *[]){scores, labels, dloss}, INPUTS,
                        &(zn_logistic_attributes){by_labels});
}
