// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of unit_norm. With n = |x| and m = n + epsilon, of each pixel's channels:
//
//     dx = dy / m - x (x . dy) / (n m^2)
//
// where the second term is left out at n = 0.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

#include <math.h>

enum { DY, X, INPUTS };

typedef struct factors {
    double dy, x; // dx = dy * factors.dy - x * factors.x
} factors;

static factors factors_of(const zn_node *node, double squares, double product)
{
    const double epsilon = (double)((const zn_unit_norm_attributes *)node->attributes)->epsilon;
    const double n = sqrt(squares), m = n + epsilon;
    return (factors){1 / m, n > 0 ? product / (n * m * m) : 0};
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t channels = (size_t)output->desc.shape.dim[3], count = zn_value_count(output);
    for (size_t pixel = 0; pixel < count; pixel += channels) {
        double squares = 0, product = 0;
        for (size_t i = pixel; i < pixel + channels; i++) {
            const double x = (double)zn_value_get(&inputs[X], i);
            squares += x * x;
            product += x * (double)zn_value_get(&inputs[DY], i);
        }
        const factors f = factors_of(node, squares, product);
        for (size_t i = pixel; i < pixel + channels; i++) {
            zn_value_set(output, i,
                         (float)((double)zn_value_get(&inputs[DY], i) * f.dy -
                                 (double)zn_value_get(&inputs[X], i) * f.x));
        }
    }
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const size_t channels = (size_t)node->desc.shape.dim[3];
    const float *dy = inputs[DY], *x = inputs[X];
    for (int64_t p = 0; p < node->desc.shape.dim[2]; p++) {
        const double squares = zn_row_product(x, x, channels),
                     product = zn_row_product(x, dy, channels);
        const factors f = factors_of(node, squares, product);
        for (size_t c = 0; c < channels; c++) {
            dst[c] = (float)((double)dy[c] * f.dy - (double)x[c] * f.x);
        }
        dy += channels;
        x += channels;
        dst += channels;
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

static double flops(const zn_node *node)
{
    size_t elements = 0;
    return zn_shape_elements(&node->desc.shape, &elements) ? 7.0 * (double)elements : 0;
}

static const zn_unit_norm_attributes visible = {0.5f}, tiny = {1e-10f};
static const zn_op_sample samples[] = {
    {.name = "odd",
     .inputs_count = 2,
     .inputs = {{4, {1, 5, 7, 3}}, {4, {1, 5, 7, 3}}},
     .attributes = &visible},
    {.name = "wide",
     .inputs_count = 2,
     .inputs = {{4, {1, 3, 17, 70}}, {4, {1, 3, 17, 70}}},
     .attributes = &tiny},
};

const zn_op zn_op_unit_norm_gradient = {
    .name = "unit_norm_gradient",
    .summary = "the gradient of unit_norm",
    .attributes_size = sizeof(zn_unit_norm_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = zn_infer_two_maps,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_unit_norm_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *x,
                               float epsilon)
{
    const zn_unit_norm_attributes attributes = {epsilon};
    return zn_graph_add(graph, &zn_op_unit_norm_gradient, name, (zn_node *[]){dy, x}, INPUTS,
                        &attributes);
}
