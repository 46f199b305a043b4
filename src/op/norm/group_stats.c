// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Mean and 1 / sqrt(variance + epsilon) of each group, from the moments of all its rows:
// [n, h, groups, 2] -> [n, groups, 2]. Rows are added in order and in double, so the bits depend on
// nothing else. The variance is the mean of squares less the square of the mean; in double that
// loses about 2^-52 of the squared mean, far less than f32 values can tell.
//
// The gradient of group_stats with respect to the moments of each row, [n, h, groups, 2]. From
// mean = S / N and rstd = (Q / N - mean^2 + epsilon)^(-1/2), for every row the same:
//
//     d S = (d mean + mean rstd^3 d rstd) / N        d Q = -rstd^3 d rstd / (2 N)
#include "src/op/operator.h"

#include <math.h>

typedef struct stats_lowering {
    zn_lowering base;
    const zn_node *node;
} stats_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_group_stats_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    const zn_desc *moments = &node->inputs[0]->desc;
    if (moments->type != ZN_F64 || moments->shape.dim[3] != 2 || a->elements_per_row < 1)
        return zn_fail(err, ZENITH_UNSUPPORTED, "group_stats needs the moments of rows");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(moments->shape.dim[0], moments->shape.dim[2], 2));
    return ZENITH_OK;
}

// moments [n, h, groups, 2] -> stats [n, groups, 2]
static void compute(const zn_node *node, const double *moments, float *stats)
{
    const zn_group_stats_attributes *a = node->attributes;
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const double count = (double)dim[1] * (double)a->elements_per_row;
    for (int64_t n = 0; n < dim[0]; n++) {
        for (int64_t group = 0; group < dim[2]; group++, stats += 2) {
            double sum = 0, squares = 0;
            for (int64_t row = 0; row < dim[1]; row++) {
                const double *pair = moments + 2 * ((n * dim[1] + row) * dim[2] + group);
                sum += pair[0];
                squares += pair[1];
            }
            double mean = sum / count, variance = squares / count - mean * mean;
            stats[0] = (float)mean;
            stats[1] = (float)(1 / sqrt((variance > 0 ? variance : 0) + (double)a->epsilon));
        }
    }
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    compute(node, inputs[0].data, output->data);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    compute(((const stats_lowering *)base)->node, call->inputs[0], call->output);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    stats_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->base = (zn_lowering){.run = run, .free = zn_lowering_free, .id = "double"};
    l->node = request->node;
    *out = &l->base;
    return ZENITH_OK;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_group_stats_attributes *a = node->attributes;
    const zn_group_stats_gradient_attributes all = {node->inputs[input]->desc.shape.dim[1],
                                                    a->elements_per_row};
    // The statistics themselves are part of the rule, and the plan has them anyway.
    zn_node *stats = graph->nodes[node->id];
    return zn_graph_pair(graph, &zn_op_group_stats_gradient, node->name, dy, stats, &all);
}

static const zn_group_stats_attributes few = {1e-6f, 1}, usual = {1e-5f, 40};

const zn_op zn_op_group_stats = {
    .name = "group_stats",
    .summary = "mean and inverse deviation of each group from the moments of all rows",
    .attributes_size = sizeof(zn_group_stats_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER | ZN_OP_GUARDED,
    .result_types = ZN_BIT(ZN_F32),
    .infer = infer,
    .rows = zn_rows_whole,
    .reference = reference,
    .lower = lower,
    .flops = zn_flops_of_input,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &few, 0, ZN_MAP(1, 1, 2)),
                          ZN_SAMPLE("odd", &usual, 0, ZN_MAP(7, 5, 2)),
                          ZN_SAMPLE("tall", &usual, 0, ZN_MAP(33, 32, 2))),
};

enum { DSTATS, STATS, INPUTS };

static zenith_status gradient_infer(zn_node *node, zn_error *err)
{
    const zn_group_stats_gradient_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_same_shape(node, DSTATS, STATS, err));
    const zn_shape *stats = &node->inputs[STATS]->desc.shape;
    if (stats->rank != 3 || stats->dim[2] != 2 || a->rows < 1 || a->elements_per_row < 1)
        return zn_fail(err, ZENITH_INTERNAL, "group_stats_gradient needs statistics of groups");
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(stats->dim[0], a->rows, stats->dim[1], 2));
    return ZENITH_OK;
}

// Of some rows of the result, or all.
static void gradient_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const zn_group_stats_gradient_attributes *a = node->attributes;
    const int64_t *dim = output->desc.shape.dim;
    const double count = (double)a->rows * (double)a->elements_per_row;
    size_t next = 0;
    for (int64_t row = 0; row < dim[0] * dim[1]; row++) {
        for (int64_t group = 0; group < dim[2]; group++, next += 2) {
            const size_t at = 2 * (size_t)(row / dim[1] * dim[2] + group);
            const double mean = (double)zn_value_get(&inputs[STATS], at);
            const double rstd = (double)zn_value_get(&inputs[STATS], at + 1);
            const double bend = rstd * rstd * rstd * (double)zn_value_get(&inputs[DSTATS], at + 1);
            const double dmean = (double)zn_value_get(&inputs[DSTATS], at);
            zn_value_set(output, next, (float)((dmean + mean * bend) / count));
            zn_value_set(output, next + 1, (float)(-bend / (2 * count)));
        }
    }
}

static const zn_group_stats_gradient_attributes gradient_few = {1, 1}, gradient_usual = {7, 40};

const zn_op zn_op_group_stats_gradient = {
    .name = "group_stats_gradient",
    .summary = "the gradient of mean and inverse deviation with respect to each row's moments",
    .attributes_size = sizeof(zn_group_stats_gradient_attributes),
    .traits = ZN_OP_FIXED,
    .result_types = ZN_BIT(ZN_F32),
    .infer = gradient_infer,
    .reference = gradient_reference,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &gradient_few, 0, {3, {1, 1, 2}}, {3, {1, 1, 2}}),
                          ZN_SAMPLE("odd", &gradient_usual, 0, {3, {1, 5, 2}}, {3, {1, 5, 2}})),
};
