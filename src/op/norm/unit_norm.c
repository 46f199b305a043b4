// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each pixel's channels divided by their length: x / (|x| + epsilon), |x| the root of the sum of
// the channels' squares. What perceptual distances compare: directions of features, whatever their
// size.
//
// The gradient of unit_norm. With n = |x| and m = n + epsilon, of each pixel's channels:
//
//     dx = dy / m - x (x . dy) / (n m^2)
//
// where the second term is left out at n = 0.
#include "src/op/operator.h"

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

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_pair(graph, &zn_op_unit_norm_gradient, node->name, dy, node->inputs[input],
                         node->attributes);
}

static const zn_unit_norm_attributes tiny = {1e-10f}, visible = {0.5f};

const zn_op zn_op_unit_norm = {
    .name = "unit_norm",
    .summary = "each pixel's channels divided by their length",
    .attributes_size = sizeof(zn_unit_norm_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .row = row,
    .lower = zn_row_lower,
    .work = 3,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &visible, 0, ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("odd", &tiny, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("wide", &visible, 0, ZN_MAP(3, 17, 70))),
};

zn_node *zn_unit_norm(zn_graph *graph, const char *name, zn_node *x, float epsilon)
{
    const zn_unit_norm_attributes attributes = {epsilon};
    return zn_graph_add(graph, &zn_op_unit_norm, name, &x, 1, &attributes);
}

enum { DY, X }; // of the gradient

typedef struct factors {
    double dy, x; // dx = dy * factors.dy - x * factors.x
} factors;

static factors factors_of(const zn_node *node, double squares, double product)
{
    const double epsilon = (double)epsilon_of(node);
    const double n = sqrt(squares), m = n + epsilon;
    return (factors){1 / m, n > 0 ? product / (n * m * m) : 0};
}

static void gradient_row(const zn_node *node, const float *const *inputs, float *dst)
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

const zn_op zn_op_unit_norm_gradient = {
    .name = "unit_norm_gradient",
    .summary = "the gradient of unit_norm",
    .attributes_size = sizeof(zn_unit_norm_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = zn_infer_two_maps,
    .row = gradient_row,
    .lower = zn_row_lower,
    .work = 7,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("odd", &visible, 0, ZN_MAP(5, 7, 3), ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("wide", &tiny, 0, ZN_MAP(3, 17, 70), ZN_MAP(3, 17, 70))),
};
