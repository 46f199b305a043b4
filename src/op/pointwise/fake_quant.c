// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Values as 8 bits would hold them, in a floating type: what training shows a network that will run
// in int8. With q = x / scale rounded to the nearest whole number, ties to even, and saturated to
// the range of the type, the result is q * scale, which is what convert.h stores and reads again.
//
// Rounding has no slope that helps, so the gradient passes as if there were none where x is not
// saturated, and is zero where it is (Bengio et al., 2013: straight through).
#include "src/kernel/pointwise/convert.h"
#include "src/op/operator.h"

#include <math.h>

typedef struct grid {
    float scale, inverse, low, high;
} grid;

static grid grid_of(const zn_convert_attributes *a)
{
    const bool positive = a->type == ZN_U8;
    return (grid){a->scale, zn_convert_reciprocal(a->scale), positive ? 0.0f : -128.0f,
                  positive ? 255.0f : 127.0f};
}

// Adding 1.5 * 2^23 leaves no bits below one: rounded to nearest, ties to even. A NaN stays one.
static inline float rounded(const grid *g, float x)
{
    const float whole = 12582912.0f;
    float q = x * g->inverse;
    q = q < g->low ? g->low : q > g->high ? g->high : q;
    return (q + whole - whole) * g->scale;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_convert_attributes *a = node->attributes;
    if (a->type != ZN_U8 && a->type != ZN_S8)
        return zn_fail(err, ZENITH_INTERNAL, "fake_quant is for u8 and s8");
    if (!isnormal(a->scale) || a->scale < 0)
        return zn_fail(err, ZENITH_INTERNAL, "fake_quant needs a positive scale");
    return zn_infer_one_map(node, err);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const grid g = grid_of(node->attributes);
    const size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        const float q = rintf(zn_value_get(&inputs[0], i) * g.inverse);
        zn_value_set(output, i, fminf(fmaxf(q, g.low), g.high) * g.scale);
    }
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const grid g = grid_of(node->attributes);
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) dst[i] = rounded(&g, inputs[0][i]);
}

// What rounds to an end of the range is not saturated yet.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const grid g = grid_of(node->attributes);
    const zn_clamp_attributes inside = {(g.low - 0.5f) * g.scale, (g.high + 0.5f) * g.scale};
    return zn_graph_pair(graph, &zn_op_clamp_gradient, node->name, dy, node->inputs[input],
                         &inside);
}

static const zn_convert_attributes pixels = {ZN_U8, 0.00413f}, fine = {ZN_U8, 0.00337f},
                                   both = {ZN_S8, 0.0317f}, coarse = {ZN_S8, 0.2431f};

const zn_op zn_op_fake_quant = {
    .name = "fake_quant",
    .summary = "values as 8 bits would hold them",
    .attributes_size = sizeof(zn_convert_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .row = row,
    .lower = zn_row_lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixels", &pixels, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("pixel", &fine, 0, ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("both signs", &both, 0, ZN_MAP(3, 19, 12)),
                          ZN_SAMPLE("coarse", &coarse, 0, ZN_MAP(3, 9, 16))),
};

zn_node *zn_fake_quant(zn_graph *graph, const char *name, zn_node *x, zn_type type, float scale)
{
    return zn_graph_add(graph, &zn_op_fake_quant, name, &x, 1,
                        &(zn_convert_attributes){type, scale});
}
