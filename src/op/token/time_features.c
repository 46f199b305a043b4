// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The features of a timestep: cosines and then sines of one number at falling frequencies. It is a few
// hundred numbers a run, so the specification is also what runs: the same bits everywhere.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

#include <math.h>

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_time_features_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    size_t elements = 0;
    if (!zn_shape_elements(&node->inputs[0]->desc.shape, &elements) || elements != 1)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "time_features takes one number");
    if (a->size < 2 || a->size % 2 != 0 || !(a->period > 0))
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "time_features: a size of %lld is no even number of at least 2, or the period is "
            "not positive",
            (long long)a->size);
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(a->size));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_time_features_attributes *a = node->attributes;
    const double s = (double)zn_value_get(&inputs[0], 0), half = (double)(a->size / 2);
    for (int64_t i = 0; i < a->size / 2; i++) {
        const double angle = s * exp(-log((double)a->period) * (double)i / half);
        zn_value_set(output, (size_t)i, (float)cos(angle));
        zn_value_set(output, (size_t)(a->size / 2 + i), (float)sin(angle));
    }
}

static const zn_time_features_attributes least = {2, 100}, usual = {256, 10000};
static const zn_op_sample samples[] = {
    {.name = "least", .inputs_count = 1, .inputs = {{0, {0}}}, .attributes = &least},
    {.name = "usual", .inputs_count = 1, .inputs = {{0, {0}}}, .attributes = &usual},
};

const zn_op zn_op_time_features = {
    .name = "time_features",
    .summary = "cosines and sines of a timestep at falling frequencies",
    .attributes_size = sizeof(zn_time_features_attributes),
    .traits = ZN_OP_FIXED,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .reference = reference,
    .no_gradient = "a timestep is given by the caller, not learned",
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_time_features(zn_graph *graph, const char *name, zn_node *scalar,
                          zn_time_features_attributes attributes)
{
    return zn_graph_add(graph, &zn_op_time_features, name, &scalar, 1, &attributes);
}
