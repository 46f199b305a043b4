// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum of each channel over all pixels, in f32: [n, h, w, c] -> [c]. The gradient of a bias, and
// the sum of a mean over all pixels. Of two maps of one shape, the sum of their product: the
// gradient of a factor for each channel. With `columns` over rows alone: [n, h, w, c] -> [w * c].
#include "src/op/operator.h"

static zenith_status infer_result(zn_node *node)
{
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const zn_channel_sum_attributes *a = node->attributes;
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(a->columns ? dim[2] * dim[3] : dim[3]));
    return ZENITH_OK;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_one_map(node, err));
    return infer_result(node);
}

static zenith_status infer_product(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_two_maps(node, err));
    return infer_result(node);
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const size_t channels = (size_t)node->desc.shape.dim[0], count = zn_value_count(&inputs[0]);
    for (size_t c = 0; c < channels; c++) {
        double sum = 0;
        for (size_t i = c; i < count; i += channels)
            sum += (double)zn_value_get(&inputs[0], i) *
                   (node->inputs_count > 1 ? (double)zn_value_get(&inputs[1], i) : 1);
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
        const float *a = inputs[0] + first, *b = inputs[1] ? inputs[1] + first : NULL;
        float row[BLOCK] = {0};
        for (int64_t x = 0; x < width * channels; x += channels) {
            for (int64_t c = 0; c < count && b; c++) row[c] += a[x + c] * b[x + c];
            for (int64_t c = 0; c < count && !b; c++) row[c] += a[x + c];
        }
        for (int64_t c = 0; c < count; c++) sums[first + c] += (double)row[c];
    }
}

// Every pixel has the sum's own gradient.
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    zn_node *ones = zn_affine(graph, node->name, node->inputs[input], 0, 1);
    return zn_graph_pair(graph, &zn_op_modulate, node->name, ones, dy,
                         &(zn_modulate_attributes){.plain = true});
}

static const zn_channel_sum_attributes all = {false}, columns = {true};

const zn_op zn_op_channel_sum = {
    .name = "channel_sum",
    .summary = "the sum of each channel over all pixels, or all rows",
    .attributes_size = sizeof(zn_channel_sum_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .add_row = add_row,
    .lower = zn_sum_lower,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &all, 0, ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", &all, 0, ZN_MAP(5, 7, 20)),
                          ZN_SAMPLE("wide", &all, 0, ZN_MAP(4, 37, 64)),
                          ZN_SAMPLE("columns", &columns, 0, ZN_MAP(5, 7, 20))),
};

zn_node *zn_channel_sum(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_channel_sum, name, &x, 1, &all);
}

zn_node *zn_column_sum(zn_graph *graph, const char *name, zn_node *x)
{
    return zn_graph_add(graph, &zn_op_channel_sum, name, &x, 1, &columns);
}

const zn_op zn_op_channel_product_sum = {
    .name = "channel_product_sum",
    .summary = "the sum of the product of two maps, for each channel",
    .attributes_size = sizeof(zn_channel_sum_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer_product,
    .rows = zn_rows_whole,
    .reference = reference,
    .add_row = add_row,
    .lower = zn_sum_lower,
    .work = 2,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &all, 0, ZN_MAP(1, 1, 3), ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", &all, 0, ZN_MAP(5, 7, 20), ZN_MAP(5, 7, 20)),
                          ZN_SAMPLE("wide", &all, 0, ZN_MAP(4, 37, 64), ZN_MAP(4, 37, 64)),
                          ZN_SAMPLE("columns", &columns, 0, ZN_MAP(5, 7, 20), ZN_MAP(5, 7, 20))),
};

zn_node *zn_channel_product_sum(zn_graph *graph, const char *name, zn_node *a, zn_node *b)
{
    return zn_graph_pair(graph, &zn_op_channel_product_sum, name, a, b, &all);
}

zn_node *zn_column_product_sum(zn_graph *graph, const char *name, zn_node *a, zn_node *b)
{
    return zn_graph_pair(graph, &zn_op_channel_product_sum, name, a, b, &columns);
}
