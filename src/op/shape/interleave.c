// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps of one shape put together, their channels in turn: channel c of map i is channel c * n + i
// of the result, where n counts the maps and `zeros` that stand before them. One map many times
// over is its channels repeated.
#include "src/op/operator.h"

enum { MOST = 4 };

static int64_t zeros_of(const zn_node *node)
{
    return ((const zn_interleave_attributes *)node->attributes)->zeros;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const int64_t zeros = zeros_of(node);
    ZN_TRY(zn_check_inputs(node, 1, MOST, err));
    for (int i = 0; i < node->inputs_count; i++) {
        ZN_TRY(zn_check_map(node, i, err));
        ZN_TRY(zn_check_same_shape(node, 0, i, err));
    }
    zn_infer_like_input(node);
    if (zeros < 0 || zeros > MOST || node->desc.shape.dim[3] > INT32_MAX)
        return zn_fail(err, ZENITH_INTERNAL, "interleave: %lld maps of zeros", (long long)zeros);
    if (zn_is_quantised(node->desc.type)) node->desc = zn_desc_make(ZN_F32, node->desc.shape);
    node->desc.shape.dim[3] *= zeros + node->inputs_count;
    return ZENITH_OK;
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const size_t zeros = (size_t)zeros_of(node), maps = (size_t)node->inputs_count;
    const size_t n = zeros + maps, from = zn_row_elements(node) / n;
    for (size_t i = 0; i < n; i++) {
        const float *src = i < zeros ? NULL : inputs[i - zeros];
        for (size_t k = 0; k < from; k++) dst[k * n + i] = src ? src[k] : 0;
    }
}

static const zn_interleave_attributes none = {0}, one = {1};

const zn_op zn_op_interleave = {
    .name = "interleave",
    .summary = "maps put together, their channels in turn",
    .attributes_size = sizeof(zn_interleave_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .row = row,
    .lower = zn_row_lower,
    .no_gradient = "models of video are not trained",
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", &none, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 3)),
        ZN_SAMPLE("odd", &none, 0, ZN_MAP(5, 7, 4), ZN_MAP(5, 7, 4), ZN_MAP(5, 7, 4)),
        ZN_SAMPLE("zeros", &one, 0, ZN_MAP(3, 9, 16))),
};

zn_node *zn_interleave(zn_graph *graph, const char *name, zn_node *const *inputs, int count,
                       int zeros)
{
    const zn_interleave_attributes attributes = {zeros};
    return zn_graph_add(graph, &zn_op_interleave, name, inputs, count, &attributes);
}
