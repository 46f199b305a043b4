// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// limit * tanh(x / limit): what the decoders of the TAESD family do to a latent first (limit 3), so
// that values far outside the usual range do no harm. Latents are small; no fast version is needed.
//
// The gradient, dy / cosh(x / limit)^2, is made from x and not from the result, which a short type
// rounds to the limit itself.
#include "src/op/operator.h"

#include <math.h>

enum { DY, X, INPUTS }; // of the gradient

static float limit_of(const zn_node *node)
{
    return ((const zn_soft_clip_attributes *)node->attributes)->limit;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    if (!(limit_of(node) > 0))
        return zn_fail(err, ZENITH_INTERNAL, "soft_clip needs a positive limit");
    return zn_infer_one_map(node, err);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const float limit = limit_of(node);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++)
        zn_value_set(output, i, limit * tanhf(zn_value_get(&inputs[0], i) / limit));
}

static void gradient_row(const zn_node *node, const float *const *inputs, float *dst)
{
    const float limit = limit_of(node);
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) {
        const float c = coshf(inputs[X][i] / limit);
        dst[i] = inputs[DY][i] * (1 / (c * c));
    }
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_pair(graph, &zn_op_soft_clip_gradient, node->name, dy, node->inputs[input],
                         node->attributes);
}

static const zn_soft_clip_attributes three = {3}, half = {0.5f};

const zn_op zn_op_soft_clip = {
    .name = "soft_clip",
    .summary = "limit * tanh(x / limit)",
    .attributes_size = sizeof(zn_soft_clip_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &three, 0, ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("odd", &three, 0, ZN_MAP(5, 7, 4)),
                          ZN_SAMPLE("narrow", &half, 0, ZN_MAP(3, 9, 16))),
};

const zn_op zn_op_soft_clip_gradient = {
    .name = "soft_clip_gradient",
    .summary = "the gradient times 1 / cosh(x / limit)^2",
    .attributes_size = sizeof(zn_soft_clip_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = zn_infer_two_maps,
    .row = gradient_row,
    .lower = zn_row_lower,
    .work = 20, // about what a hyperbolic cosine takes
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &three, 0, ZN_MAP(1, 1, 4), ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("odd", &three, 0, ZN_MAP(5, 7, 4), ZN_MAP(5, 7, 4))),
};

zn_node *zn_soft_clip(zn_graph *graph, const char *name, zn_node *x, float limit)
{
    return zn_graph_add(graph, &zn_op_soft_clip, name, &x, 1, &(zn_soft_clip_attributes){limit});
}
