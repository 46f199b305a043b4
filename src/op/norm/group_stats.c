// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Mean and 1 / sqrt(variance + epsilon) of each group, from the moments of all its rows:
// [n, h, groups, 2] -> [n, groups, 2]. Rows are added in order and in double, so the bits depend on
// nothing else. The variance is the mean of squares less the square of the mean; in double that
// loses about 2^-52 of the squared mean, far less than f32 values can tell.
#include "src/base/memory.h"
#include "src/op/op_checks.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

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
    return zn_graph_add(graph, &zn_op_group_stats_gradient, node->name, (zn_node *[]){dy, stats}, 2,
                        &all);
}

static const zn_group_stats_attributes few = {1e-6f, 1}, usual = {1e-5f, 40};
static const zn_op_sample samples[] = {
    {.name = "pixel", .inputs_count = 1, .inputs = {{4, {1, 1, 1, 2}}}, .attributes = &few},
    {.name = "odd", .inputs_count = 1, .inputs = {{4, {1, 7, 5, 2}}}, .attributes = &usual},
    {.name = "tall", .inputs_count = 1, .inputs = {{4, {1, 33, 32, 2}}}, .attributes = &usual},
};

const zn_op zn_op_group_stats = {
    .name = "group_stats",
    .summary = "mean and inverse deviation of each group from the moments of all rows",
    .attributes_size = sizeof(zn_group_stats_attributes),
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
