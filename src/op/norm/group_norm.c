// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// (x - mean) * rstd * gamma + beta, with mean and rstd of the pixel's image and group: the last of
// the three nodes that the builder makes (row_moments, group_stats, group_norm).
#include "src/base/text.h"
#include "src/op/norm/group_norm_lowering.h"
#include "src/op/operator.h"

enum { X, STATS, GAMMA, BETA, INPUTS = ZN_GROUP_NORM_INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_group_norm_infer(node, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    const int64_t *x = inputs[X].desc.shape.dim;
    const int64_t groups = inputs[STATS].desc.shape.dim[1], pixels = x[1] * x[2];
    size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) {
        int64_t channel = (int64_t)i % x[3], image = (int64_t)i / x[3] / pixels;
        size_t group = (size_t)(image * groups + channel / (x[3] / groups));
        double mean = (double)zn_value_get(&inputs[STATS], 2 * group);
        double rstd = (double)zn_value_get(&inputs[STATS], 2 * group + 1);
        double gamma = (double)zn_value_get(&inputs[GAMMA], (size_t)channel);
        double beta = (double)zn_value_get(&inputs[BETA], (size_t)channel);
        double value = (double)zn_value_get(&inputs[X], i);
        zn_value_set(output, i, (float)((value - mean) * rstd * gamma + beta));
    }
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    return zn_group_norm_lower(request, ZN_NO_CURVE, out, err);
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    zn_node *x = node->inputs[X], *stats = node->inputs[STATS], *gamma = node->inputs[GAMMA];
    const char *name = node->name;
    switch (input) {
    case X:
        return zn_graph_add(graph, &zn_op_group_norm_gradient, name,
                            (zn_node *[]){dy, stats, gamma}, 3, NULL);
    case STATS:
        return zn_graph_add(graph, &zn_op_group_norm_stats_gradient, name,
                            (zn_node *[]){dy, x, stats, gamma}, 4, NULL);
    case GAMMA:
        return zn_graph_add(graph, &zn_op_group_norm_scale_gradient, name,
                            (zn_node *[]){dy, x, stats}, 3, NULL);
    default:
        return zn_channel_sum(graph, name, dy);
    }
}

const zn_op zn_op_group_norm = {
    .name = "group_norm",
    .summary = "normalised by the statistics of each group, times gamma, plus beta",
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .work = 2,
    .gradient = gradient,
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", NULL, 0xc, ZN_MAP(1, 1, 3), {3, {1, 1, 2}}, ZN_VECTOR(3), ZN_VECTOR(3)),
        ZN_SAMPLE("odd", NULL, 0xc, ZN_MAP(5, 7, 12), {3, {1, 4, 2}}, ZN_VECTOR(12), ZN_VECTOR(12)),
        ZN_SAMPLE("wide", NULL, 0xc, ZN_MAP(4, 37, 64), {3, {1, 32, 2}}, ZN_VECTOR(64),
                  ZN_VECTOR(64)),
        ZN_SAMPLE("given", NULL, 0, ZN_MAP(4, 9, 16), {3, {1, 4, 2}}, ZN_VECTOR(16),
                  ZN_VECTOR(16))),
};

zn_node *zn_group_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gamma, zn_node *beta,
                       int groups, float epsilon)
{
    char label[256];
    zn_text_format(label, sizeof label, "%s.moments", name ? name : "");
    zn_node *moments = zn_graph_add(graph, &zn_op_row_moments, label, &x, 1,
                                    &(zn_row_moments_attributes){groups});
    if (!moments) return NULL; // x may be missing too: the graph keeps the reason
    const int64_t *dim = x->desc.shape.dim;
    zn_text_format(label, sizeof label, "%s.stats", name ? name : "");
    zn_node *stats = zn_graph_add(graph, &zn_op_group_stats, label, &moments, 1,
                                  &(zn_group_stats_attributes){epsilon, dim[2] * dim[3] / groups});
    return zn_graph_add(graph, &zn_op_group_norm, name, (zn_node *[]){x, stats, gamma, beta},
                        INPUTS, NULL);
}
