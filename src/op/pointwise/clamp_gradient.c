// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of clamp: dy where x lies between the bounds or on one, else 0, as PyTorch has it.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

enum { DY, X, INPUTS };

static bool inside(const zn_node *node, float x)
{
    const zn_clamp_attributes *a = node->attributes;
    return x >= a->low && x <= a->high;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const bool passes = inside(node, zn_value_get(&inputs[X], i));
        zn_value_set(output, i, passes ? zn_value_get(&inputs[DY], i) : 0);
    }
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) dst[i] = inside(node, inputs[X][i]) ? inputs[DY][i] : 0;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

static const zn_clamp_attributes narrow = {-0.25f, 0.5f};
#define SAMPLE(label, h, w, c)                                                                     \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS, .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, c}}},   \
        .attributes = &narrow                                                                      \
    }
static const zn_op_sample samples[] = {SAMPLE("pixel", 1, 1, 4), SAMPLE("odd", 5, 7, 3)};

const zn_op zn_op_clamp_gradient = {
    .name = "clamp_gradient",
    .summary = "the gradient where clamp changed nothing, else 0",
    .attributes_size = sizeof(zn_clamp_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = zn_infer_two_maps,
    .reference = reference,
    .lower = lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
