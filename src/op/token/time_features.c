// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The features of a timestep, or of each of a sequence of them: cosines and then sines of one
// number at falling frequencies. It is a few hundred numbers a timestep, so the specification is
// also what runs: the same bits everywhere. Exponents, frequencies and angles are rounded to f32
// one after the other, as the published networks compute them: at an angle of 1000 that moves a
// cosine by 3e-5.
#include "src/op/operator.h"

#include <math.h>

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_time_features_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    const zn_shape *x = &node->inputs[0]->desc.shape;
    size_t elements = 0;
    if (!zn_shape_elements(x, &elements) || (x->rank == 4 ? x->dim[3] != 1 : elements != 1))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "time_features takes one number, or a sequence of numbers");
    if (a->size < 2 || a->size % 2 != 0 || !(a->period > 0))
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "time_features: a size of %lld is no even number of at least 2, or the period is "
            "not positive",
            (long long)a->size);
    if (x->rank == 4) ZN_TRY(zn_check_map(node, 0, err));
    node->desc = x->rank == 4 ? zn_desc_make(ZN_F32, ZN_SHAPE(1, x->dim[1], x->dim[2], a->size))
                              : zn_desc_make(ZN_F32, ZN_SHAPE(a->size));
    return ZENITH_OK;
}

static float frequency(const zn_time_features_attributes *a, size_t i)
{
    const float exponent = (float)-log((double)a->period) * (float)i / (float)(a->size / 2);
    return (float)exp((double)exponent);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_time_features_attributes *a = node->attributes;
    const size_t half = (size_t)(a->size / 2), times = zn_value_count(&inputs[0]);
    for (size_t i = 0; i < times * half; i++) {
        const float angle = zn_value_get(&inputs[0], i / half) * frequency(a, i % half);
        const size_t at = i / half * 2 * half + i % half;
        zn_value_set(output, at, (float)cos((double)angle));
        zn_value_set(output, at + half, (float)sin((double)angle));
    }
}

static const zn_time_features_attributes least = {2, 100}, usual = {256, 10000};

const zn_op zn_op_time_features = {
    .name = "time_features",
    .summary = "cosines and sines of a timestep at falling frequencies",
    .attributes_size = sizeof(zn_time_features_attributes),
    .traits = ZN_OP_FIXED,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .reference = reference,
    .no_gradient = "a timestep is given by the caller, not learned",
    .samples = ZN_SAMPLES(ZN_SAMPLE("least", &least, 0, {0, {0}}),
                          ZN_SAMPLE("usual", &usual, 0, {0, {0}}),
                          ZN_SAMPLE("sequence", &usual, 0, ZN_MAP(5, 1, 1))),
};

zn_node *zn_time_features(zn_graph *graph, const char *name, zn_node *time,
                          zn_time_features_attributes attributes)
{
    return zn_graph_add(graph, &zn_op_time_features, name, &time, 1, &attributes);
}
