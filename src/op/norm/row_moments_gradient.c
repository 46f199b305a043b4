// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of row_moments with respect to x: d sum + 2 x d squares, of the row and group.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

enum { X, DMOMENTS, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_map(node, DMOMENTS, err));
    const int64_t *x = node->inputs[X]->desc.shape.dim, *m = node->inputs[DMOMENTS]->desc.shape.dim;
    if (m[0] != x[0] || m[1] != x[1] || m[3] != 2 || x[3] % m[2] != 0)
        return zn_fail(err, ZENITH_INTERNAL, "row_moments_gradient: moments of another map");
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    const int64_t *dim = output->desc.shape.dim, groups = inputs[DMOMENTS].desc.shape.dim[2];
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const int64_t row = (int64_t)i / (dim[2] * dim[3]), channel = (int64_t)i % dim[3];
        const size_t at = 2 * (size_t)(row * groups + channel / (dim[3] / groups));
        const float twice = 2 * zn_value_get(&inputs[DMOMENTS], at + 1);
        zn_value_set(output, i,
                     zn_value_get(&inputs[DMOMENTS], at) + zn_value_get(&inputs[X], i) * twice);
    }
}

static void compute(const zn_node *node, const float *const *inputs, float *dst)
{
    const int64_t *dim = node->desc.shape.dim;
    const int64_t groups = node->inputs[DMOMENTS]->desc.shape.dim[2], size = dim[3] / groups;
    const float *x = inputs[X];
    for (int64_t p = 0; p < dim[2]; p++) {
        for (int64_t g = 0; g < groups; g++, x += size, dst += size) {
            const float sum = inputs[DMOMENTS][2 * g], twice = 2 * inputs[DMOMENTS][2 * g + 1];
            for (int64_t c = 0; c < size; c++) dst[c] = sum + x[c] * twice;
        }
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, compute, out, err);
}

#define SAMPLE(label, h, w, c, groups)                                                             \
    {                                                                                              \
        .name = label, .inputs_count = INPUTS, .inputs = {                                         \
            {4, {1, h, w, c}},                                                                     \
            {4, {1, h, groups, 2}}                                                                 \
        }                                                                                          \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", 1, 1, 3, 1),
    SAMPLE("odd", 5, 7, 12, 4),
    SAMPLE("wide", 4, 37, 64, 32),
};

const zn_op zn_op_row_moments_gradient = {
    .name = "row_moments_gradient",
    .summary = "the gradient of each row's moments with respect to its values",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};
