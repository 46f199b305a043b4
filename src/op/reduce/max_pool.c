// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The largest value of each square window of a channel, without padding. Sizes are rounded up, as
// in Caffe and in PyTorch's ceil_mode: a last window may reach beyond the map, and only what lies
// in it counts. A NaN in a window wins. A copy of one of the values, so type and scale stay.
#include "src/op/operator.h"

#include <string.h>

int64_t zn_max_pool_length(int64_t length, const zn_max_pool_attributes *a)
{
    if (length <= a->kernel) return 1;
    return (length - a->kernel + a->stride - 1) / a->stride + 1;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_max_pool_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    if (a->stride < 1 || a->kernel < a->stride || a->kernel > 64) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "max_pool cannot have windows of %d pixels at every %d", a->kernel,
                       a->stride);
    }
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    node->desc = node->inputs[0]->desc;
    node->desc.shape = ZN_SHAPE(dim[0], zn_max_pool_length(dim[1], a),
                                zn_max_pool_length(dim[2], a), dim[3]);
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const zn_max_pool_attributes *a = node->attributes;
    (void)input;
    return (zn_rows){out.begin * a->stride, (out.end - 1) * a->stride + a->kernel};
}

// From one or more rows: what lies below the map does not count.
static void row(const zn_node *node, const float *const *inputs, int64_t place, float *dst)
{
    const zn_max_pool_attributes *a = node->attributes;
    const int64_t *from = node->inputs[0]->desc.shape.dim, channels = from[3];
    const int64_t left_over = from[1] - place * a->stride;
    const int64_t count = left_over < a->kernel ? left_over : a->kernel;
    if (place < 0 || count < 1) { // outside the map: it will be dropped
        memset(dst, 0, zn_row_elements(node) * sizeof *dst);
        return;
    }
    for (int64_t x = 0; x < node->desc.shape.dim[2]; x++, dst += channels) {
        const int64_t left = x * a->stride;
        const int64_t right = left + a->kernel < from[2] ? left + a->kernel : from[2];
        memcpy(dst, inputs[0] + left * channels, (size_t)channels * sizeof *dst);
        for (int64_t h = 0; h < count; h++) {
            for (int64_t w = left; w < right; w++) {
                const float *src = inputs[0] + (h * from[2] + w) * channels;
                for (int64_t c = 0; c < channels; c++)
                    dst[c] = src[c] <= dst[c] || dst[c] != dst[c] ? dst[c] : src[c];
            }
        }
    }
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    return zn_graph_pair(graph, &zn_op_max_pool_gradient, node->name, dy, node->inputs[input],
                         node->attributes);
}

static double flops(const zn_node *node)
{
    const zn_max_pool_attributes *a = node->attributes;
    const int64_t *dim = node->desc.shape.dim;
    return (double)(dim[0] * dim[1] * dim[2] * dim[3]) * a->kernel * a->kernel;
}

static const zn_max_pool_attributes three = {3, 2}, two = {2, 2};

const zn_op zn_op_max_pool = {
    .name = "max_pool",
    .summary = "the largest value of each window",
    .attributes_size = sizeof(zn_max_pool_attributes),
    .traits = ZN_OP_FOLLOWS,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .placed_row = row,
    .lower = zn_row_lower,
    .flops = flops,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("corner", &three, 0, ZN_MAP(2, 2, 4)),
                          ZN_SAMPLE("odd", &three, 0, ZN_MAP(7, 9, 3)),
                          ZN_SAMPLE("beyond", &three, 0, ZN_MAP(8, 10, 16)),
                          ZN_SAMPLE("tiles", &two, 0, ZN_MAP(6, 18, 64))),
};

zn_node *zn_max_pool(zn_graph *graph, const char *name, zn_node *x, int kernel, int stride)
{
    const zn_max_pool_attributes attributes = {kernel, stride};
    return zn_graph_add(graph, &zn_op_max_pool, name, &x, 1, &attributes);
}
