// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of gaussian_sample by the logarithm of the variance: dy * noise * exp(logvar / 2) / 2, with
// the same noise.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/pointwise/gaussian_noise.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { DY, LOGVAR, NUMBER, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_map(node, LOGVAR, err));
    ZN_TRY(zn_check_same_shape(node, DY, LOGVAR, err));
    if (node->inputs[NUMBER]->desc.shape.rank != 0)
        return zn_fail(err, ZENITH_INTERNAL, "gaussian_sample_gradient: input 2 is no scalar");
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static float slope(float dy, float logvar, float noise)
{
    return dy * noise * 0.5f * expf(0.5f * logvar);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_gaussian_attributes *a = node->attributes;
    const float number = zn_value_get(&inputs[NUMBER], 0);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        float noise;
        zn_gaussian_noise(a->seed, number, i, 1, &noise);
        zn_value_set(output, i,
                     slope(zn_value_get(&inputs[DY], i), zn_value_get(&inputs[LOGVAR], i), noise));
    }
}

static void row(const zn_node *node, const float *const *inputs, int64_t place, float *dst)
{
    enum { PIECE = 64 };
    const zn_gaussian_attributes *a = node->attributes;
    const size_t count = zn_row_elements(node);
    const float *dy = inputs[DY], *logvar = inputs[LOGVAR];
    for (size_t begin = 0; begin < count; begin += PIECE) {
        const size_t length = count - begin < PIECE ? count - begin : PIECE;
        float noise[PIECE];
        zn_gaussian_noise(a->seed, *inputs[NUMBER], (uint64_t)place * count + begin, length, noise);
        for (size_t i = 0; i < length; i++)
            dst[begin + i] = slope(dy[begin + i], logvar[begin + i], noise[i]);
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_placed_row_lower(request, row, out, err);
}

// About what an exponential and a normal number take.
static double flops(const zn_node *node)
{
    size_t elements = 0;
    return zn_shape_elements(&node->desc.shape, &elements) ? 60.0 * (double)elements : 0;
}

static const zn_gaussian_attributes first = {7}, second = {UINT64_C(0xfedcba9876543210)};
#define SAMPLE(label, attribute, h, w, c)                                                          \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS,                                                     \
        .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, c}}, {0, {0}}}, .attributes = &(attribute)     \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", first, 1, 1, 4),
    SAMPLE("odd", second, 5, 7, 3),
    SAMPLE("wide", first, 6, 19, 16),
};

const zn_op zn_op_gaussian_sample_gradient = {
    .name = "gaussian_sample_gradient",
    .summary = "the gradient times the noise times exp(logvar / 2) / 2",
    .attributes_size = sizeof(zn_gaussian_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
