// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Rotary positions: the pairs of each head of x turned by the angles of the token. The gradient is
// the same, turned back. The table is made from positions, not learned, so it has no gradient.
#include "src/kernel/attention/rope.h"
#include "src/kernel/kernels.h"
#include "src/op/operator.h"

#include "src/op/token/token_checks.h"

enum { X, TABLE, INPUTS };

static zn_rotation rotation_of(const zn_node *node)
{
    const zn_rope_attributes *a = node->attributes;
    return (zn_rotation){.heads = (size_t)a->heads,
                         .width = (size_t)zn_group_width(node, a->heads),
                         .halves = a->pairs == ZN_ROPE_HALVES,
                         .back = a->back};
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_rope_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_map(node, TABLE, err));
    const int64_t width = zn_group_width(node, a->heads);
    if (width < 2 || width % 2 != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "rope: %lld channels do not divide into %d heads of an even width",
                       (long long)node->inputs[X]->desc.shape.dim[3], a->heads);
    const int64_t *x = node->inputs[X]->desc.shape.dim, *t = node->inputs[TABLE]->desc.shape.dim;
    if (t[1] % x[1] != 0 || t[1] * t[2] != x[1] * x[2] || t[3] != width)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "rope needs a table of %lld tokens with %lld numbers each, not %lld with %lld",
            (long long)(x[1] * x[2]), (long long)width, (long long)(t[1] * t[2]), (long long)t[3]);
    zn_infer_tokens(node);
    return ZENITH_OK;
}

// The table is a sequence also where x is a picture: a row of pixels takes as many of its rows.
static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const int64_t of_table = node->inputs[TABLE]->desc.shape.dim[1];
    return input == X ? out : zn_rows_taken((int)(of_table / node->desc.shape.dim[1]), out);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_rotation how = rotation_of(node);
    const size_t pairs = how.width / 2, count = zn_value_count(output);
    for (size_t head = 0; head < count / how.width; head++) {
        const size_t x = head * how.width, angles = head / how.heads * how.width;
        for (size_t i = 0; i < pairs; i++) {
            const size_t first = x + (how.halves ? i : 2 * i);
            const size_t second = first + (how.halves ? pairs : 1);
            const double a = (double)zn_value_get(&inputs[X], first);
            const double b = (double)zn_value_get(&inputs[X], second);
            const double c = (double)zn_value_get(&inputs[TABLE], angles + i);
            const double s = (double)zn_value_get(&inputs[TABLE], angles + pairs + i);
            zn_value_set(output, first, (float)(how.back ? a * c + b * s : a * c - b * s));
            zn_value_set(output, second, (float)(how.back ? b * c - a * s : a * s + b * c));
        }
    }
}

static void compute(const zn_pixels *p)
{
    const zn_rotation how = rotation_of(p->node);
    p->kernels->rope(&how, p->inputs[X], p->inputs[TABLE], p->count, p->dst);
}

// A cosine that bf16 rounds would turn by another angle: the table is read as it is stored.
static zn_want wants(const zn_node *node, int input)
{
    (void)node;
    return input == X ? ZN_WANT_FLOAT : ZN_WANT_STORED;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    zn_rope_attributes turned = *(const zn_rope_attributes *)node->attributes;
    turned.back = !turned.back;
    return input == X ? zn_rope(graph, node->name, dy, node->inputs[TABLE], turned) : NULL;
}

static const zn_rope_attributes pairs = {ZN_ROPE_INTERLEAVED, 3, false},
                                halves = {ZN_ROPE_HALVES, 2, false},
                                back = {ZN_ROPE_INTERLEAVED, 1, true},
                                halves_back = {ZN_ROPE_HALVES, 3, true};

const zn_op zn_op_rope = {
    .name = "rope",
    .summary = "pairs of a head's channels turned by the angles of the token",
    .attributes_size = sizeof(zn_rope_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .rows = rows,
    .wants = wants,
    .reference = reference,
    .pixels = compute,
    .lower = zn_pixel_lower,
    .work = 3,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pairs", &pairs, 0, ZN_MAP(19, 1, 66), ZN_MAP(19, 1, 22)),
        ZN_SAMPLE("halves", &halves, 0, ZN_MAP(7, 1, 128), ZN_MAP(7, 1, 64)),
        ZN_SAMPLE("picture", &back, 0, ZN_MAP(4, 5, 6), ZN_MAP(20, 1, 6)),
        ZN_SAMPLE("halves back", &halves_back, 0, ZN_MAP(3, 7, 108), ZN_MAP(21, 1, 36))),
};

zn_node *zn_rope(zn_graph *graph, const char *name, zn_node *x, zn_node *table,
                 zn_rope_attributes attributes)
{
    return zn_graph_pair(graph, &zn_op_rope, name, x, table, &attributes);
}
