// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Twice the height and width, each pixel four times. A copy: type and scale stay.
//
// Half the height and width: the sum of each 2x2 pixels. The gradient of upsample2.
#include "src/kernel/conv/upsample2.h"
#include "src/op/operator.h"
#include "src/op/shape/enlarge_lowering.h"

#include <string.h>

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const zn_desc *x = &node->inputs[0]->desc;
    const int64_t *dim = x->shape.dim;
    if (dim[1] > INT64_MAX / 2 || dim[2] > INT64_MAX / 2)
        return zn_fail(err, ZENITH_LIMIT, "a map too large to double");
    node->desc = *x;
    node->desc.shape = ZN_SHAPE(dim[0], 2 * dim[1], 2 * dim[2], dim[3]);
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    (void)node, (void)input;
    return zn_enlarge_rows(2, out);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    const int64_t *dim = output->desc.shape.dim;
    size_t bytes = (size_t)dim[3] * zn_type_size(output->desc.type);
    const uint8_t *src = inputs[0].data;
    uint8_t *dst = output->data;
    for (int64_t row = 0; row < dim[0] * dim[1]; row++) { // heights are even: images do not mix
        for (int64_t column = 0; column < dim[2]; column++, dst += bytes) {
            memcpy(dst, src + (size_t)(row / 2 * (dim[2] / 2) + column / 2) * bytes, bytes);
        }
    }
}

static void upsample_rows(const zn_enlarging *how, const void *src, void *dst, int64_t first_row,
                          int64_t count)
{
    zn_upsample2_rows(src, how->width, (size_t)how->channels * how->element_bytes, dst, first_row,
                      count);
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_enlarging how = zn_enlarging_of(&request->node->inputs[0]->desc, 2);
    return zn_enlarge_lower(request, &how, upsample_rows, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)input;
    return zn_sum2(graph, node->name, dy);
}

const zn_op zn_op_upsample2 = {
    .name = "upsample2",
    .summary = "nearest neighbours, twice the height and width",
    .traits = ZN_OP_FOLLOWS,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .rings = zn_always_rings,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(5, 7, 4)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(3, 17, 64))),
};

zn_node *zn_upsample2(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_upsample2, name, &x, 1, NULL);
}

static zenith_status sum_infer(zn_node *node, zn_error *err)
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

static zn_rows sum_rows(const zn_node *node, int input, zn_rows out)
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

static zn_node *sum_gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)input;
    return zn_upsample2(graph, node->name, dy);
}

const zn_op zn_op_sum2 = {
    .name = "sum2",
    .summary = "sums of 2x2 pixels: half the height and width",
    .result_types = ZN_MAP_TYPES,
    .infer = sum_infer,
    .rows = sum_rows,
    .row = sum_row,
    .lower = zn_row_lower,
    .work = 3,
    .gradient = sum_gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", NULL, 0, ZN_MAP(2, 2, 3)),
                          ZN_SAMPLE("odd", NULL, 0, ZN_MAP(10, 14, 4)),
                          ZN_SAMPLE("wide", NULL, 0, ZN_MAP(6, 34, 64))),
};

zn_node *zn_sum2(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_sum2, name, &x, 1, NULL);
}
