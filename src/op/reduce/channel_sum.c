// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum of each channel over all pixels, in f32: [n, h, w, c] -> [c]. The gradient of a bias, and the
// sum of a mean over all pixels. With `columns` over rows alone: [n, h, w, c] -> [w * c].
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
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
        for (size_t i = c; i < count; i += channels) sum += (double)zn_value_get(&inputs[0], i);
        zn_value_set(output, c, (float)sum);
    }
}

// A row is summed in f32, four at a time; rows are added in double, in order.
static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const int64_t channels = node->desc.shape.dim[0], width = dim[2] * dim[3] / channels;
    enum { BLOCK = 16 };
    for (int64_t first = 0; first < channels; first += BLOCK) {
        const int64_t count = channels - first < BLOCK ? channels - first : BLOCK;
        const float *src = inputs[0] + first;
        float row[BLOCK] = {0};
        for (int64_t x = 0; x < width; x++, src += channels) {
            for (int64_t c = 0; c < count; c++) row[c] += src[c];
        }
        for (int64_t c = 0; c < count; c++) sums[first + c] += (double)row[c];
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const size_t channels = (size_t)request->node->desc.shape.dim[0];
    return zn_sum_lower(request, channels, add_row, NULL, out, err);
}

// Every pixel has the sum's own gradient.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    zn_node *ones = zn_affine(graph, node->name, node->inputs[input], 0, 1);
    return zn_graph_add(graph, &zn_op_modulate, node->name, (zn_node *[]){ones, dy}, 2,
                        &(zn_modulate_attributes){.plain = true});
}

static const zn_channel_sum_attributes all = {false}, columns = {true};
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 3}}}, .attributes = &all},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 20}}}, .attributes = &all},
    {.name = "wide", .inputs_count = 1, .inputs = {{4, {1, 4, 37, 64}}}, .attributes = &all},
    {.name = "columns", .inputs_count = 1, .inputs = {{4, {1, 5, 7, 20}}}, .attributes = &columns},
};

const zn_op zn_op_channel_sum = {
    .name = "channel_sum",
    .summary = "the sum of each channel over all pixels, or all rows",
    .attributes_size = sizeof(zn_channel_sum_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_flops_of_input,
    .gradient = gradient,
    .samples = samples,
    .samples_count = sizeof samples / sizeof *samples,
};

zn_node *zn_channel_sum(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_channel_sum, name, &x, 1, &all);
}

zn_node *zn_column_sum(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_channel_sum, name, &x, 1, &columns);
}
