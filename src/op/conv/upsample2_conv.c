// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Nearest neighbours, twice the height and width, and then a 3x3 convolution, without the larger
// map and with a part of the work. How depends on the type, so it is fused when types are known.
#include "src/op/conv/upsample2_lowerings.h"
#include "src/op/operator.h"
#include "src/op/shape/enlarge_lowering.h"

enum { X = 0, WEIGHT = 1, BIAS = 2 };

static zenith_status infer(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 3, err));
    ZN_TRY(zn_conv_infer(node, 1, 1, 0, err));
    const int64_t *x = node->inputs[X]->desc.shape.dim, *w = node->inputs[WEIGHT]->desc.shape.dim;
    if (w[2] != 3 || w[3] != 3)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "upsample2_conv needs a kernel of 3x3");
    if (x[1] > INT64_MAX / 2 || x[2] > INT64_MAX / 2)
        return zn_fail(err, ZENITH_LIMIT, "a map too large to double");
    if (node->inputs_count == 3) ZN_TRY(zn_check_vector(node, BIAS, w[0], err));
    node->desc.shape = ZN_SHAPE(x[0], 2 * x[1], 2 * x[2], w[0]);
    return ZENITH_OK;
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    (void)node;
    if (input != X) return out;
    return zn_enlarge_rows(2, (zn_rows){out.begin - 1, out.end + 1}); // the kernel's neighbours
}

static double flops(const zn_node *node)
{
    return zn_conv_flops(node) * 4 / 9;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    if (zn_upsample2_phases_fit(&request->cpu, node))
        return zn_upsample2_phases_lower(request, out, err);
    if (zn_upsample2_doubled_fits(node)) return zn_upsample2_doubled_lower(request, out, err);
    return zn_fail(err, ZENITH_UNSUPPORTED, "upsample2_conv has no kernel for %s here",
                   zn_type_name(node->inputs[X]->desc.type));
}

static bool rings(const zn_lowering_request *request)
{
    return zn_upsample2_phases_fit(&request->cpu, request->node);
}

// --- fusion -------------------------------------------------------------------------------------

static bool is_plain_f32(const zn_node *node)
{
    return node->desc.type == ZN_F32 && node->desc.scale == 1;
}

static bool accepts(const zn_match *match, const zn_cpu *cpu)
{
    const zn_node *conv = match->nodes[0];
    const zn_conv2d_attributes *a = conv->attributes;
    const int64_t *w = conv->inputs[WEIGHT]->desc.shape.dim;
    if (conv->inputs[WEIGHT]->desc.shape.rank != 4 || a->direct || a->stride != 1 || a->pad != 1 ||
        a->after != 0 || w[2] != 3 || w[3] != 3)
        return false;
    if (zn_upsample2_phases_fit(cpu, conv)) return true;
    return is_plain_f32(conv->inputs[X]) && zn_upsample2_doubled_fits(conv);
}

static zn_node *build(zn_graph *graph, const zn_match *match)
{
    return zn_graph_add(graph, &zn_op_upsample2_conv, match->nodes[0]->name, match->any,
                        match->any_count, NULL);
}

static zn_node *expand(zn_graph *graph, const zn_node *node, zn_node *const *inputs)
{
    zn_node *larger = zn_upsample2(graph, node->name, inputs[X]);
    return zn_conv2d(graph, node->name, larger, inputs[WEIGHT],
                     node->inputs_count == 3 ? inputs[BIAS] : NULL, 1, 1);
}

const zn_op zn_op_upsample2_conv = {
    .name = "upsample2_conv",
    .summary = "nearest neighbours, twice the height and width, then a 3x3 convolution",
    .traits = ZN_OP_MATMUL,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .rows = rows,
    .lower = lower,
    .rings = rings,
    .flops = flops,
    .patterns = ZN_PATTERNS({{&zn_op_conv2d, {1, ZN_ANY, ZN_MAYBE}}, {&zn_op_upsample2, {ZN_ANY}}}),
    .accepts = accepts,
    .build = build,
    .expand = expand,
    .no_gradient = "it is only made after differentiation",
    .samples = ZN_SAMPLES(
        ZN_SAMPLE("pixel", NULL, 2, ZN_MAP(1, 1, 64), {4, {64, 64, 3, 3}}),
        ZN_SAMPLE("bias", NULL, 6, ZN_MAP(5, 19, 64), {4, {20, 64, 3, 3}}, ZN_VECTOR(20)),
        ZN_SAMPLE("wide", NULL, 2, ZN_MAP(6, 40, 64), {4, {64, 64, 3, 3}})),
};
