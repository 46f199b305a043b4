// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum of a * b over all pixels, for each channel, in f32: two maps of one shape -> [c]. The gradient
// of a factor for each channel. With `columns` over rows alone: -> [w * c].
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_two_maps(node, err));
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const zn_channel_sum_attributes *a = node->attributes;
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(a->columns ? dim[2] * dim[3] : dim[3]));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t channels = (size_t)node->desc.shape.dim[0], count = zn_value_count(&inputs[0]);
    for (size_t c = 0; c < channels; c++) {
        double sum = 0;
        for (size_t i = c; i < count; i += channels)
            sum += (double)zn_value_get(&inputs[0], i) * (double)zn_value_get(&inputs[1], i);
        zn_value_set(output, c, (float)sum);
    }
}

static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const int64_t channels = node->desc.shape.dim[0], width = dim[2] * dim[3] / channels;
    enum { BLOCK = 16 };
    for (int64_t first = 0; first < channels; first += BLOCK) {
        const int64_t count = channels - first < BLOCK ? channels - first : BLOCK;
        float row[BLOCK] = {0};
        for (int64_t x = 0; x < width; x++) {
            const float *a = inputs[0] + x * channels + first,
                        *b = inputs[1] + x * channels + first;
            for (int64_t c = 0; c < count; c++) row[c] += a[c] * b[c];
        }
        for (int64_t c = 0; c < count; c++) sums[first + c] += (double)row[c];
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const size_t channels = (size_t)request->node->desc.shape.dim[0];
    return zn_sum_lower(request, channels, add_row, NULL, out, err);
}

static double flops(const zn_node *node)
{
    return 2 * zn_flops_of_input(node);
}

static const zn_channel_sum_attributes all = {false}, columns = {true};
#define SAMPLE(label, h, w, c, how)                                                                \
    {                                                                                              \
        .name = label, .inputs_count = 2, .inputs = {{4, {1, h, w, c}}, {4, {1, h, w, c}}},        \
        .attributes = &(how)                                                                       \
    }
static const zn_op_sample samples[] = {
    SAMPLE("pixel", 1, 1, 3, all),
    SAMPLE("odd", 5, 7, 20, all),
    SAMPLE("wide", 4, 37, 64, all),
    SAMPLE("columns", 5, 7, 20, columns),
};

const zn_op zn_op_channel_product_sum = {
    .name = "channel_product_sum",
    .summary = "the sum of the product of two maps, for each channel",
    .attributes_size = sizeof(zn_channel_sum_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_channel_product_sum(zn_graph *graph, const char *name, zn_node *a, zn_node *b)
{
    return zn_graph_add(graph, &zn_op_channel_product_sum, name, (zn_node *[]){a, b}, 2, &all);
}

zn_node *zn_column_product_sum(zn_graph *graph, const char *name, zn_node *a, zn_node *b)
{
    return zn_graph_add(graph, &zn_op_channel_product_sum, name, (zn_node *[]){a, b}, 2, &columns);
}
