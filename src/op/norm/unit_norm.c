// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each pixel's channels divided by their length: x / (|x| + epsilon), |x| the root of the sum of the
// channels' squares. What perceptual distances compare: directions of features, whatever their size.
#include "src/base/memory.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <math.h>

static float epsilon_of(const zn_node *node)
{
    return ((const zn_unit_norm_attributes *)node->attributes)->epsilon;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_one_map(node, err));
    if (zn_is_quantised(node->desc.type)) {
        node->desc.type = ZN_F32; // the result's scale is not the input's
        node->desc.scale = 1;
    }
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t channels = (size_t)output->desc.shape.dim[3], count = zn_value_count(output);
    for (size_t pixel = 0; pixel < count; pixel += channels) {
        double sum = 0;
        for (size_t c = 0; c < channels; c++) {
            double x = (double)zn_value_get(&inputs[0], pixel + c);
            sum += x * x;
        }
        const double length = sqrt(sum) + (double)epsilon_of(node);
        for (size_t c = 0; c < channels; c++) {
            double x = (double)zn_value_get(&inputs[0], pixel + c);
            zn_value_set(output, pixel + c, (float)(x / length));
        }
    }
}

// --- lowering -----------------------------------------------------------------------------------

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const size_t channels = (size_t)node->desc.shape.dim[3];
    const float *src = inputs[0];
    for (int64_t p = 0; p < node->desc.shape.dim[2]; p++, src += channels, dst += channels) {
        const float length = (float)(sqrt(zn_row_product(src, src, channels)) +
                                     (double)epsilon_of(node));
        for (size_t c = 0; c < channels; c++) dst[c] = src[c] / length;
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_unit_norm_gradient(graph, node->name, dy, node->inputs[input], epsilon_of(node));
}

static double flops(const zn_node *node)
{
    const int64_t *dim = node->desc.shape.dim;
    return 3.0 * (double)(dim[0] * dim[1] * dim[2] * dim[3]);
}

static const zn_unit_norm_attributes tiny = {1e-10f}, visible = {0.5f};
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 1}}}, .attributes = &visible},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 3}}}, .attributes = &tiny},
    {.name = "wide", .inputs_count = 1, .inputs = {{4, {1, 3, 17, 70}}}, .attributes = &visible},
};

const zn_op zn_op_unit_norm = {
    .name = "unit_norm",
    .summary = "each pixel's channels divided by their length",
    .attributes_size = sizeof(zn_unit_norm_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_unit_norm(zn_graph *graph, const char *name, zn_node *x, float epsilon)
{
    const zn_unit_norm_attributes attributes = {epsilon};
    return zn_graph_add(graph, &zn_op_unit_norm, name, &x, 1, &attributes);
}
