// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps of one shape put together, their channels in turn: channel c of map i is channel c * n + i of the result,
// where n counts the maps and `zeros` that stand before them. One map many times over is its channels repeated.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

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

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t zeros = (size_t)zeros_of(node), n = zeros + (size_t)node->inputs_count;
    const size_t count = zn_value_count(output);
    for (size_t k = 0; k < count; k++)
        zn_value_set(output, k, k % n < zeros ? 0 : zn_value_get(&inputs[k % n - zeros], k / n));
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

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 1, row, out, err);
}

static const zn_interleave_attributes none = {0}, one = {1};
#define MAP(h, w, c)                                                                               \
    {                                                                                              \
        4,                                                                                         \
        {                                                                                          \
            1, h, w, c                                                                             \
        }                                                                                          \
    }
static const zn_op_sample samples[] = {
    {.name = "pixel",
     .inputs_count = 2,
     .inputs = {MAP(1, 1, 3), MAP(1, 1, 3)},
     .attributes = &none},
    {.name = "odd",
     .inputs_count = 3,
     .inputs = {MAP(5, 7, 4), MAP(5, 7, 4), MAP(5, 7, 4)},
     .attributes = &none},
    {.name = "zeros", .inputs_count = 1, .inputs = {MAP(3, 9, 16)}, .attributes = &one},
};

const zn_op zn_op_interleave = {
    .name = "interleave",
    .summary = "maps put together, their channels in turn",
    .attributes_size = sizeof(zn_interleave_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .no_gradient = "models of video are not trained",
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_interleave(zn_graph *graph, const char *name, zn_node *const *inputs, int count,
                       int zeros)
{
    const zn_interleave_attributes attributes = {zeros};
    return zn_graph_add(graph, &zn_op_interleave, name, inputs, count, &attributes);
}
