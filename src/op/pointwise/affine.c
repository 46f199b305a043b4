// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// x * factor + offset with numbers that a model fixes: pixels of 0 .. 1 to the -1 .. 1 of networks
// that want them so, latents from one space to another. Bytes are read as they are stored, so a
// result in a short type is rounded once, after the change.
#include "src/op/operator.h"

#include <math.h>

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_affine_attributes *a = node->attributes;
    if (!isfinite(a->factor) || !isfinite(a->offset))
        return zn_fail(err, ZENITH_INTERNAL, "affine needs finite numbers");
    ZN_TRY(zn_infer_one_map(node, err));
    if (zn_is_quantised(node->desc.type)) node->desc = zn_desc_make(ZN_F32, node->desc.shape);
    return ZENITH_OK;
}

static void row(const zn_node *node, const float *const *inputs, float *dst)
{
    const zn_affine_attributes *a = node->attributes;
    const size_t count = zn_row_elements(node);
    for (size_t i = 0; i < count; i++) dst[i] = inputs[0][i] * a->factor + a->offset;
}

static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_affine_attributes *a = node->attributes;
    (void)input;
    return zn_affine(graph, node->name, dy, a->factor, 0);
}

static const zn_affine_attributes pixels = {2, -1}, latents = {0.3611f, -0.0418515f};

const zn_op zn_op_affine = {
    .name = "affine",
    .summary = "x * factor + offset",
    .attributes_size = sizeof(zn_affine_attributes),
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .wants = zn_wants_stored,
    .row = row,
    .lower = zn_row_lower,
    .work = 2,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixel", &pixels, 0, ZN_MAP(1, 1, 3)),
                          ZN_SAMPLE("odd", &pixels, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("latent", &latents, 0, ZN_MAP(3, 9, 16))),
};

zn_node *zn_affine(zn_graph *graph, const char *name, zn_node *x, float factor, float offset)
{
    return zn_graph_add(graph, &zn_op_affine, name, &x, 1, &(zn_affine_attributes){factor, offset});
}
