// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Some channels of a map or of a vector, one after the other: what concat has put there.
//
// A map or a vector among more channels, the others zero: its first channel becomes channel `first`
// of `count`. The gradient of channel_slice.
#include "src/op/operator.h"
#include "src/op/token/token_checks.h"

#include <string.h>

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_channel_slice_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_tokens(node, 0, err));
    zn_infer_like_input(node);
    const int last = node->desc.shape.rank - 1;
    const int64_t channels = node->desc.shape.dim[last];
    if (a->first < 0 || a->count < 1 || a->count > channels || a->first > channels - a->count) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "channel_slice: of %lld channels there are no %lld from the %lldth on",
                       (long long)channels, (long long)a->count, (long long)a->first);
    }
    node->desc.shape.dim[last] = a->count;
    return ZENITH_OK;
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const zn_channel_slice_attributes *a = node->attributes;
    const zn_shape *x = &node->inputs[0]->desc.shape;
    const size_t from = (size_t)x->dim[x->rank - 1], to = (size_t)a->count;
    const float *src = inputs[0] + a->first;
    for (size_t left = zn_row_elements(node); left > 0; left -= to, src += from, dst += to)
        memcpy(dst, src, to * sizeof *dst);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_channel_slice_attributes *a = node->attributes;
    const zn_shape *x = &node->inputs[input]->desc.shape;
    return zn_channel_pad(graph, node->name, dy, a->first, x->dim[x->rank - 1]);
}

static const zn_channel_slice_attributes all = {0, 4}, middle = {2, 3}, end = {64, 48};

const zn_op zn_op_channel_slice = {
    .name = "channel_slice",
    .summary = "some channels of a map or of a vector",
    .attributes_size = sizeof(zn_channel_slice_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .row = row,
    .lower = zn_row_lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &all, 0, ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("odd", &middle, 0, ZN_MAP(5, 7, 6)),
                          ZN_SAMPLE("wide", &end, 0, ZN_MAP(2, 33, 112)),
                          ZN_SAMPLE("vector", &end, 0, ZN_VECTOR(130))),
};

zn_node *zn_channel_slice(zn_graph *graph, const char *name, zn_node *x, int64_t first,
                          int64_t count)
{
    const zn_channel_slice_attributes attributes = {first, count};
    return zn_graph_add(graph, &zn_op_channel_slice, name, &x, 1, &attributes);
}

static const zn_channel_slice_attributes *place_of(const zn_node *node)
{
    return node->attributes;
}

static size_t channels_of(const zn_shape *shape)
{
    return (size_t)shape->dim[shape->rank - 1];
}

static zenith_status pad_infer(zn_node *node, zn_error *err)
{
    const zn_channel_slice_attributes *a = place_of(node);
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_tokens(node, 0, err));
    const zn_desc *x = &node->inputs[0]->desc;
    const int last = x->shape.rank - 1;
    if (a->first < 0 || a->first > a->count - x->shape.dim[last])
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%lld channels do not lie from %lld on in %lld",
                       (long long)x->shape.dim[last], (long long)a->first, (long long)a->count);
    if (zn_is_quantised(x->type))
        return zn_fail(err, ZENITH_UNSUPPORTED, "channel_pad computes in floating types");
    zn_infer_like_input(node);
    node->desc.shape.dim[last] = a->count;
    return ZENITH_OK;
}

static void pad_row(const zn_node *node, const float *const *inputs, float *dst)
{
    const size_t from = channels_of(&node->inputs[0]->desc.shape);
    const size_t to = channels_of(&node->desc.shape), width = zn_row_elements(node) / to;
    memset(dst, 0, width * to * sizeof *dst);
    for (size_t x = 0; x < width; x++)
        memcpy(dst + x * to + place_of(node)->first, inputs[0] + x * from, from * sizeof *dst);
}

static zn_node *pad_gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_channel_slice(graph, node->name, dy, place_of(node)->first,
                            (int64_t)channels_of(&node->inputs[input]->desc.shape));
}

static const zn_channel_slice_attributes pad_all = {0, 3}, pad_middle = {5, 40};

const zn_op zn_op_channel_pad = {
    .name = "channel_pad",
    .summary = "a map or a vector among channels of zeros",
    .attributes_size = sizeof(zn_channel_slice_attributes),
    .result_types = ZN_WIDE_FLOAT_TYPES,
    .infer = pad_infer,
    .row = pad_row,
    .lower = zn_row_lower,
    .gradient = pad_gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("all", &pad_all, 0, ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("middle", &pad_middle, 0, ZN_MAP(5, 7, 20)),
                          ZN_SAMPLE("vector", &pad_middle, 0, ZN_VECTOR(33))),
};

zn_node *zn_channel_pad(zn_graph *graph, const char *name, zn_node *x, int64_t first, int64_t count)
{
    const zn_channel_slice_attributes attributes = {first, count};
    return zn_graph_add(graph, &zn_op_channel_pad, name, &x, 1, &attributes);
}
