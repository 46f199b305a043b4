// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of gaussian_sample by the logarithm of the variance: dy * noise * exp(logvar / 2) / 2, with
// the same noise.
#include "src/op/op_checks.h"
#include "src/op/ops.h"
#include "src/op/pointwise/gaussian_noise.h"
#include "src/op/row_lowering.h"

#include <math.h>

static float slope(float dy, float logvar, float noise)
{
    return dy * noise * 0.5f * expf(0.5f * logvar);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    zn_gaussian_reference(slope, node, inputs, output);
}

static void row(const zn_node *node, const float *const *inputs, int64_t place, float *dst)
{
    zn_gaussian_row(slope, node, inputs, place, dst);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_placed_row_lower(request, row, out, err);
}

static const zn_gaussian_attributes first = {7}, second = {UINT64_C(0xfedcba9876543210)};
#define SAMPLE(label, attribute, h, w, c)                                                          \
    {                                                                                              \
        .name = label, .inputs_count = ZN_GAUSSIAN_INPUTS,                                         \
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
    .infer = zn_gaussian_infer,
    .reference = reference,
    .lower = lower,
    .flops = zn_gaussian_flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
