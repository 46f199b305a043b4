// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The same values in another type. An image is a quantised u8 map with scale 1/255, so this is both
// pixel ends of a model as well as what stands between parts of different types.
#include "src/op/convert_parallel.h"
#include "src/op/operator.h"

#include <math.h>

typedef struct convert_lowering {
    zn_lowering base;
    zn_conversion conversion;
    size_t row_count; // elements of a row
} convert_lowering;

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_convert_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    if (!isnormal(a->scale) || a->scale < 0)
        return zn_fail(err, ZENITH_INTERNAL, "convert needs a positive scale");
    node->desc = zn_desc_make(a->type, node->inputs[0]->desc.shape);
    node->desc.scale = a->scale;
    return ZENITH_OK;
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    (void)node;
    size_t count = zn_value_count(output);
    for (size_t i = 0; i < count; i++) zn_value_set(output, i, zn_value_get(&inputs[0], i));
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const convert_lowering *l = (const convert_lowering *)base;
    zn_conversion_run(&l->conversion, call->team, call->inputs[0], call->output,
                      l->row_count * (size_t)call->rows);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_desc *y = &request->node->desc;
    // The schedule has checked the bytes of a row.
    convert_lowering made = {.base = {.run = run, .free = zn_lowering_free, .id = "kernel"},
                             .row_count = (size_t)(y->shape.dim[2] * y->shape.dim[3])};
    ZN_TRY(zn_conversion_pass(request, 0, &made.conversion, err));
    return zn_lowering_keep(&made, sizeof made, out, err);
}

// Rounding has no slope that helps: the gradient passes as if there were none, in the type of x
// (f32 for integers).
static zn_node *gradient(zn_graph *graph, const zn_node *node, int input, zn_node *dy)
{
    const zn_type type = node->inputs[input]->desc.type;
    const zn_type wanted = zn_is_quantised(type) ? ZN_F32 : type;
    return dy->desc.type == wanted ? dy : zn_convert(graph, node->name, dy, wanted, 1);
}

static const zn_convert_attributes to_pixels = {ZN_U8, 1.0f / 255}, to_f32 = {ZN_F32, 1},
                                   to_bf16 = {ZN_BF16, 1}, to_f16 = {ZN_F16, 1},
                                   integers = {ZN_BF16, 1.0f / 255}, to_s8 = {ZN_S8, 0.03f};

const zn_op zn_op_convert = {
    .name = "convert",
    .summary = "the same values in another type",
    .attributes_size = sizeof(zn_convert_attributes),
    .traits = ZN_OP_FIXED | ZN_OP_CONVERTS,
    .result_types = ZN_MAP_TYPES,
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .rings = zn_always_rings,
    .gradient = gradient,
    .samples = ZN_SAMPLES(ZN_SAMPLE("pixels", &to_pixels, 0, ZN_MAP(5, 7, 3)),
                          ZN_SAMPLE("f32", &to_f32, 0, ZN_MAP(1, 1, 1)),
                          ZN_SAMPLE("bf16", &to_bf16, 0, ZN_MAP(3, 33, 64)),
                          ZN_SAMPLE("integers in bf16", &integers, 0, ZN_MAP(4, 9, 3)),
                          ZN_SAMPLE("s8", &to_s8, 0, ZN_MAP(3, 19, 12)),
                          ZN_SAMPLE("f16", &to_f16, 0, ZN_MAP(3, 33, 64))),
};

zn_node *zn_convert(zn_graph *graph, const char *name, zn_node *x, zn_type type, float scale)
{
    return zn_graph_add(graph, &zn_op_convert, name, &x, 1, &(zn_convert_attributes){type, scale});
}

zn_node *zn_convert_as(zn_graph *graph, zn_node *x, zn_type type, float scale)
{
    return zn_convert(graph, x->name, x, type, scale);
}
