// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Half the height and width: the sum of each 2x2 pixels. The gradient of upsample2.
#include "src/op/operator.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    if (dim[1] % 2 != 0 || dim[2] % 2 != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "sum2 needs an even height and width");
    zn_infer_like_input(node);
    node->desc.shape = ZN_SHAPE(dim[0], dim[1] / 2, dim[2] / 2, dim[3]);
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    (void)node, (void)input;
    return zn_rows_taken(2, out);
}

static void sum_row(const zn_node *node, const float *const *inputs, float *dst)
{
    const size_t width = (size_t)node->desc.shape.dim[2],
                 channels = (size_t)node->desc.shape.dim[3];
    const float *top = inputs[0], *bottom = top + 2 * width * channels;
    for (size_t x = 0; x < width; x++, top += 2 * channels, bottom += 2 * channels) {
        for (size_t c = 0; c < channels; c++, dst++)
            *dst = (top[c] + top[c + channels]) + (bottom[c] + bottom[c + channels]);
    }
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)input;
    return zn_upsample2(graph, node->name, dy);
}

const zn_op zn_op_sum2 = {
    .name = "sum2",
    .summary = "sums of 2x2 pixels: half the height and width",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .row = sum_row,
    .lower = zn_row_lower,
    .work = 3,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(2, 2, 3)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(10, 14, 4)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(6, 34, 64))),
};

zn_node *zn_sum2(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_sum2, name, &x, 1, NULL);
}
