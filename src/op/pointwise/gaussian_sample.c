// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A sample of independent normal distributions: mean + exp(logvar / 2) * noise. The noise is normal, made
// from a seed, a number that each run sets (of which all bits count) and the element's place: neither
// threads nor bands change it. Gradients go to the mean and the variance, past the noise.
#include "src/op/op_checks.h"
#include "src/op/ops.h"
#include "src/op/pointwise/gaussian_noise.h"
#include "src/op/row_lowering.h"

#include <math.h>

static float draw(float mean, float logvar, float noise)
{
    return mean + expf(0.5f * logvar) * noise;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    zn_gaussian_reference(draw, node, inputs, output);
}

static void row(const zn_node *node, const float *const *inputs, int64_t place, float *dst)
{
    zn_gaussian_row(draw, node, inputs, place, dst);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_placed_row_lower(request, row, out, err);
}

// The number is the caller's: it gets no gradient.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    if (input == ZN_GAUSSIAN_VALUE) return dy;
    if (input == ZN_GAUSSIAN_NUMBER) return NULL;
    return zn_graph_add(
        graph, &zn_op_gaussian_sample_gradient, node->name,
        (zn_node *[]){dy, node->inputs[ZN_GAUSSIAN_LOGVAR], node->inputs[ZN_GAUSSIAN_NUMBER]}, 3,
        node->attributes);
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

const zn_op zn_op_gaussian_sample = {
    .name = "gaussian_sample",
    .summary = "mean + exp(logvar / 2) * normal noise, by seed and place",
    .attributes_size = sizeof(zn_gaussian_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = zn_gaussian_infer,
    .reference = reference,
    .lower = lower,
    .flops = zn_gaussian_flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_gaussian_sample(zn_graph *graph, const char *name, zn_node *mean, zn_node *logvar,
                            zn_node *number, uint64_t seed)
{
    return zn_graph_add(graph, &zn_op_gaussian_sample, name, (zn_node *[]){mean, logvar, number},
                        ZN_GAUSSIAN_INPUTS, &(zn_gaussian_attributes){seed});
}
