// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// limit * tanh(x / limit): what the decoders of the TAESD family do to a latent first (limit 3), so
// that values far outside the usual range do no harm. Latents are small; no fast version is needed.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"

#include <math.h>

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_soft_clip_attributes *a = node->attributes;
    if (!(a->limit > 0)) return zn_fail(err, ZENITH_INTERNAL, "soft_clip needs a positive limit");
    return zn_infer_one_map(node, err);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_soft_clip_attributes *a = node->attributes;
    size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        zn_value_set(output, i, a->limit * tanhf(zn_value_get(&inputs[0], i) / a->limit));
    }
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_soft_clip_attributes *a = node->attributes;
    return zn_soft_clip_gradient(graph, node->name, dy, node->inputs[input], a->limit);
}

static const zn_soft_clip_attributes three = {3}, half = {0.5f};
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 4}}}, .attributes = &three},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 4}}}, .attributes = &three},
    {.name = "narrow", .inputs_count = 1, .inputs = {{4, {1, 3, 9, 16}}}, .attributes = &half},
};

const zn_op zn_op_soft_clip = {
    .name = "soft_clip",
    .summary = "limit * tanh(x / limit)",
    .attributes_size = sizeof(zn_soft_clip_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_soft_clip(zn_graph *graph, const char *name, zn_node *x, float limit)
{
    return zn_graph_add(graph, &zn_op_soft_clip, name, &x, 1, &(zn_soft_clip_attributes){limit});
}
