// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Channels in another order, each times a number of its own: the first two steps of a spectral
// linear layer (permute, scale, transform). There are N channels in the permutation, a power of
// two; of an input with fewer the others are zero, and the result may leave the last ones out.
//
//     forwards   y[j] = scale[j] * x[p(j)]         p(j) = (a j + b) mod N, a odd
//     backwards  y[p(j)] = scale[j] * x[j]         the gradient of the former
//
// Without `scale` it is 1.
#include "src/op/operator.h"

static const zn_permute_scale_attributes *how_of(const zn_node *node)
{
    return node->attributes;
}

// Where channel j of the result comes from, and by which scale; -1: it is zero.
static int64_t source_of(const zn_node *node, int64_t j, int64_t *scale)
{
    const zn_permute_scale_attributes *a = how_of(node);
    const uint64_t n = (uint64_t)a->size, factor = (uint64_t)(a->size * 5 / 8) | 1, shift = n / 2;
    int64_t from = 0;
    if (!a->back) {
        from = (int64_t)((factor * (uint64_t)j + shift) % n);
        *scale = j;
    } else {
        // The inverse of an odd number modulo a power of two, by Newton's steps.
        uint64_t inverse = factor;
        for (int i = 0; i < 5; i++) inverse *= 2 - factor * inverse;
        from = (int64_t)((inverse * ((uint64_t)j + n - shift)) % n);
        *scale = from;
    }
    return from < node->inputs[0]->desc.shape.dim[3] ? from : -1;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_permute_scale_attributes *a = how_of(node);
    ZN_TRY(zn_check_inputs(node, 1, 2, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const zn_desc *x = &node->inputs[0]->desc;
    if (a->size < 1 || (a->size & (a->size - 1)) != 0 || x->shape.dim[3] > a->size ||
        a->channels < 1 || a->channels > a->size)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "permute_scale: %lld of %lld channels in an order of %lld, which is no power "
            "of two or too few",
            (long long)a->channels, (long long)x->shape.dim[3], (long long)a->size);
    if (node->inputs_count == 2) ZN_TRY(zn_check_vector(node, 1, a->size, err));
    if (zn_is_quantised(x->type))
        return zn_fail(err, ZENITH_UNSUPPORTED, "permute_scale computes in floating types");
    zn_infer_like_input(node);
    node->desc.shape.dim[3] = a->channels;
    return ZENITH_OK;
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const int64_t from = node->inputs[0]->desc.shape.dim[3], to = node->desc.shape.dim[3];
    const int64_t width = node->desc.shape.dim[2];
    for (int64_t c = 0; c < to; c++) {
        int64_t scale = 0;
        const int64_t i = source_of(node, c, &scale);
        const float factor = node->inputs_count == 2 ? inputs[1][scale] : 1;
        for (int64_t x = 0; x < width; x++)
            dst[x * to + c] = i < 0 ? 0 : inputs[0][x * from + i] * factor;
    }
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_permute_scale_attributes *a = how_of(node);
    zn_node *x = node->inputs[0];
    if (input == 0) {
        const zn_permute_scale_attributes back = {a->size, x->desc.shape.dim[3], !a->back};
        return zn_graph_add(graph, &zn_op_permute_scale, node->name,
                            (zn_node *[]){dy, node->inputs_count == 2 ? node->inputs[1] : NULL},
                            node->inputs_count, &back);
    }
    if (a->back || a->channels != a->size) return NULL; // is built with all channels, forwards
    zn_node *plain = zn_graph_add(graph, &zn_op_permute_scale, node->name, &x, 1, a);
    return zn_channel_product_sum(graph, node->name, plain, dy);
}

static const zn_permute_scale_attributes four = {4, 4, false}, padded = {64, 64, false},
                                         cut = {64, 20, true};

const zn_op zn_op_permute_scale = {
    .name = "permute_scale",
    .summary = "channels in another order, each times a number",
    .attributes_size = sizeof(zn_permute_scale_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = infer,
    .row = row,
    .lower = zn_row_lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &four, 2, ZN_MAP(1, 1, 3), ZN_VECTOR(4)),
                          ZN_SAMPLE("padded", &padded, 2, ZN_MAP(5, 7, 20), ZN_VECTOR(64)),
                          ZN_SAMPLE("back", &cut, 2, ZN_MAP(3, 5, 64), ZN_VECTOR(64)),
                          ZN_SAMPLE("plain", &padded, 0, ZN_MAP(3, 5, 64))),
};

zn_node *zn_permute_scale(zn_graph *graph, const char *name, zn_node *x, zn_node *scale,
                          int64_t size)
{
    const zn_permute_scale_attributes a = {size, size, false};
    return zn_graph_pair(graph, &zn_op_permute_scale, name, x, scale, &a);
}
