// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Half the height and width: the sum of each 2x2 pixels. The gradient of upsample2.
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

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

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    const int64_t *dim = output->desc.shape.dim;
    const int64_t pixel = dim[3], line = 2 * dim[2] * pixel; // of the input
    size_t next = 0;
    for (int64_t row = 0; row < dim[0] * dim[1]; row++) {
        for (int64_t column = 0; column < dim[2]; column++) {
            for (int64_t c = 0; c < dim[3]; c++) {
                size_t at = (size_t)(2 * row * line + 2 * column * pixel + c);
                float top = zn_value_get(&inputs[0], at) +
                            zn_value_get(&inputs[0], at + (size_t)pixel);
                at += (size_t)line;
                float bottom = zn_value_get(&inputs[0], at) +
                               zn_value_get(&inputs[0], at + (size_t)pixel);
                zn_value_set(output, next++, top + bottom);
            }
        }
    }
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

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_row_lower(request, 2, sum_row, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    (void)input;
    return zn_upsample2(graph, node->name, dy);
}

static double flops(const zn_node *node)
{
    size_t elements = 0;
    return zn_shape_elements(&node->desc.shape, &elements) ? 3.0 * (double)elements : 0;
}

static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 2, 2, 3}}}},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 10, 14, 4}}}},
    {.name = "wide", .inputs_count = 1, .inputs = {{4, {1, 6, 34, 64}}}},
};

const zn_op zn_op_sum2 = {
    .name = "sum2",
    .summary = "sums of 2x2 pixels: half the height and width",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_sum2(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_sum2, name, &x, 1, NULL);
}
