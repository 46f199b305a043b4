// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// (x - mean) / deviation with numbers for each channel that a model fixes, or back, x * deviation +
// mean: from an autoencoder's raw latents to a diffusion model's, and the way back. The numbers are
// in the program, not in the weights, and outlive every graph.
#include "src/op/operator.h"

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_standardise_attributes *a = node->attributes;
    ZN_TRY(zn_infer_one_map(node, err));
    if (!a->mean || !a->deviation || a->channels != node->desc.shape.dim[3])
        return zn_fail(err, ZENITH_INTERNAL, "standardise: %lld channels, and numbers for %lld",
                       (long long)node->desc.shape.dim[3], (long long)a->channels);
    if (zn_is_quantised(node->desc.type)) node->desc = zn_desc_make(ZN_F32, node->desc.shape);
    return ZENITH_OK;
}

static float changed(const zn_standardise_attributes *a, size_t c, float x)
{
    return a->back ? x * a->deviation[c] + a->mean[c] : (x - a->mean[c]) / a->deviation[c];
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const zn_standardise_attributes *a = node->attributes;
    const size_t channels = (size_t)a->channels, count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) dst[i] = changed(a, i % channels, inputs[0][i]);
}

static const float means[] = {-0.75f, 0.1f, 1.5f}, deviations[] = {2.8f, 0.45f, 1};
static const zn_standardise_attributes forward = {means, deviations, 3, false},
                                       back = {means, deviations, 3, true};

const zn_op zn_op_standardise = {
    .name = "standardise",
    .summary = "each channel less its mean and over its deviation, or back",
    .attributes_size = sizeof(zn_standardise_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .row = row,
    .lower = zn_row_lower,
    .work = 2,
    .no_gradient = "models of video are not trained",
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &forward, 0, ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", &forward, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("back", &back, 0, ZN_MAP(4, 3, 3))),
};

zn_node *zn_standardise(zn_graph *graph, const char *name, zn_node *x,
                        zn_standardise_attributes attributes)
{
    return zn_graph_add(graph, &zn_op_standardise, name, &x, 1, &attributes);
}
