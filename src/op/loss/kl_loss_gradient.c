// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of kl_loss: dloss / elements times the mean, or times (exp(logvar) - 1) / 2.
#include "src/op/loss/loss_rules.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { X, DLOSS, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_vector(node, DLOSS, 1, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static float slope(const zn_moment_attributes *a, float x)
{
    return a->which == ZN_MOMENT_MEAN ? x : 0.5f * expm1f(x);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const float each = zn_loss_share(node, zn_value_get(&inputs[DLOSS], 0));
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++)
        zn_value_set(output, i, each * slope(node->attributes, zn_value_get(&inputs[X], i)));
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const float each = zn_loss_share(node, *inputs[DLOSS]);
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) dst[i] = each * slope(node->attributes, inputs[X][i]);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

static const zn_moment_attributes mean = {ZN_MOMENT_MEAN}, logvar = {ZN_MOMENT_LOGVAR};
#define SAMPLE(label, attribute, h, w, c)                                                          \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS, .inputs = {{4, {1, h, w, c}}, {1, {1}}},            \
        .attributes = &(attribute)                                                                 \
    }
static const zn_op_sample samples[] = {
    SAMPLE("mean", mean, 5, 7, 3),
    SAMPLE("logvar", logvar, 4, 19, 16),
};

const zn_op zn_op_kl_loss_gradient = {
    .name = "kl_loss_gradient",
    .summary = "the gradient of kl_loss",
    .attributes_size = sizeof(zn_moment_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_kl_loss_gradient(zn_graph *graph, const char *name, zn_node *x, zn_node *dloss,
                             zn_moment which)
{
    return zn_graph_add(graph, &zn_op_kl_loss_gradient, name, (zn_node *[]){x, dloss}, INPUTS,
                        &(zn_moment_attributes){which});
}
