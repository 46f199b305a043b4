// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Some channels of a map or of a vector, one after the other: what concat has put there.
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
