// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a grouped 1x1 convolution with respect to its weights, in f32, [groups O, I]: for each
// group the sum over all pixels of the outer product of dy and x.
#include "src/op/operator.h"

enum { X, DY, INPUTS };

static int64_t groups_of(const zn_node *node)
{
    return ((const zn_grouped_conv_attributes *)node->attributes)->groups;
}

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, X, err));
    ZN_TRY(zn_check_map(node, DY, err));
    const int64_t *x = node->inputs[X]->desc.shape.dim, *dy = node->inputs[DY]->desc.shape.dim;
    const int64_t groups = groups_of(node);
    if (groups < 1 || x[0] != dy[0] || x[1] != dy[1] || x[2] != dy[2] || x[3] % groups != 0 ||
        dy[3] % groups != 0)
        return zn_fail(err, ZENITH_INTERNAL, "grouped_backward_weights: maps that do not fit");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(dy[3], x[3] / groups));
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *x = inputs[X].desc.shape.dim, *dy = inputs[DY].desc.shape.dim;
    const int64_t in = x[3] / groups_of(node), out = dy[3] / groups_of(node);
    for (int64_t k = 0; k < dy[3] * in; k++) {
        const int64_t o = k / in, i = o / out * in + k % in;
        double sum = 0;
        for (int64_t p = 0; p < x[0] * x[1] * x[2]; p++)
            sum += (double)zn_value_get(&inputs[X], (size_t)(p * x[3] + i)) *
                   (double)zn_value_get(&inputs[DY], (size_t)(p * dy[3] + o));
        zn_value_set(output, (size_t)k, (float)sum);
    }
}

// Eight pixels of a row are summed in f32, the rest in double.
static void add_row(const zn_node *node, const float *const *inputs, double *sums)
{
    enum { PIXELS = 8 };
    const int64_t *x = node->inputs[X]->desc.shape.dim, *dy = node->inputs[DY]->desc.shape.dim;
    const int64_t in = x[3] / groups_of(node), out = dy[3] / groups_of(node);
    for (int64_t first = 0; first < x[2]; first += PIXELS) {
        const int64_t end = first + PIXELS < x[2] ? first + PIXELS : x[2];
        for (int64_t o = 0; o < dy[3]; o++) {
            const float *from = inputs[X] + o / out * in;
            for (int64_t i = 0; i < in; i++) {
                float sum = 0;
                for (int64_t p = first; p < end; p++)
                    sum += from[p * x[3] + i] * inputs[DY][p * dy[3] + o];
                sums[o * in + i] += (double)sum;
            }
        }
    }
}

static double flops(const zn_node *node)
{
    const int64_t *dy = node->inputs[DY]->desc.shape.dim;
    size_t elements = 0;
    if (!zn_shape_elements(&node->desc.shape, &elements)) return 0;
    return 2.0 * (double)elements * (double)dy[0] * (double)dy[1] * (double)dy[2];
}

static const zn_grouped_conv_attributes two = {2, false}, four = {4, false};

const zn_op zn_op_grouped_backward_weights = {
    .name = "grouped_backward_weights",
    .summary = "the gradient of a grouped convolution with respect to its weights",
    .attributes_size = sizeof(zn_grouped_conv_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .add_row = add_row,
    .lower = zn_sum_lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &two, 0, ZN_MAP(1, 1, 6), ZN_MAP(1, 1, 4)),
                          ZN_SAMPLE("odd", &four, 0, ZN_MAP(5, 7, 20), ZN_MAP(5, 7, 36)),
                          ZN_SAMPLE("wide", &four, 0, ZN_MAP(3, 37, 64), ZN_MAP(3, 37, 64))),
};
