// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/op_checks.h"

enum { SHAPE_TEXT = 96 };

zenith_status zn_check_inputs(const zn_node *node, int least, int most, zn_error *err)
{
    if (node->inputs_count >= least && node->inputs_count <= most) return ZENITH_OK;
    return zn_fail(err, ZENITH_INTERNAL, "%s takes %d to %d inputs, not %d", node->op->name, least,
                   most, node->inputs_count);
}

zenith_status zn_check_map(const zn_node *node, int input, zn_error *err)
{
    const zn_shape *shape = &node->inputs[input]->desc.shape;
    bool fits = shape->rank == 4 && shape->dim[0] == 1;
    for (int i = 0; i < 4 && fits; i++) fits = shape->dim[i] >= 1;
    if (fits) return ZENITH_OK;
    char text[SHAPE_TEXT];
    zn_shape_text(shape, text, sizeof text);
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "%s needs a map [1, h, w, c] as input %d, not one of shape %s", node->op->name,
                   input, text);
}

zenith_status zn_check_wide_floats(const zn_node *node, int input, zn_error *err)
{
    const zn_type type = node->inputs[input]->desc.type;
    if (ZN_WIDE_FLOAT_TYPES >> type & 1) return ZENITH_OK;
    return zn_fail(err, ZENITH_UNSUPPORTED, "%s takes maps of f32 and bf16, not of %s",
                   node->op->name, zn_type_name(type));
}

zenith_status zn_check_unscaled(const zn_node *node, int input, zn_error *err)
{
    const zn_desc *desc = &node->inputs[input]->desc;
    if ((desc->type == ZN_F32 || desc->type == ZN_BF16) && desc->scale == 1.0f) return ZENITH_OK;
    return zn_fail(err, ZENITH_UNSUPPORTED, "%s takes floating maps without a scale",
                   node->op->name);
}

zenith_status zn_check_same_shape(const zn_node *node, int a, int b, zn_error *err)
{
    const zn_shape *first = &node->inputs[a]->desc.shape, *second = &node->inputs[b]->desc.shape;
    if (zn_shape_equal(first, second)) return ZENITH_OK;
    char texts[2][SHAPE_TEXT];
    zn_shape_text(first, texts[0], SHAPE_TEXT);
    zn_shape_text(second, texts[1], SHAPE_TEXT);
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s needs two maps of one shape, not %s and %s",
                   node->op->name, texts[0], texts[1]);
}

zenith_status zn_check_vector(const zn_node *node, int input, int64_t length, zn_error *err)
{
    const zn_shape *shape = &node->inputs[input]->desc.shape;
    if (shape->rank == 1 && shape->dim[0] == length) return ZENITH_OK;
    char text[SHAPE_TEXT];
    zn_shape_text(shape, text, sizeof text);
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s: input %d ('%s') has shape %s, not [%lld]",
                   node->op->name, input, node->inputs[input]->name, text, (long long)length);
}

void zn_infer_like_input(zn_node *node)
{
    const zn_desc *input = &node->inputs[0]->desc;
    node->desc = zn_desc_make(input->type, input->shape);
    if (zn_is_quantised(input->type)) node->desc.scale = input->scale;
}

zenith_status zn_infer_one_map(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 1, 1, err));
    ZN_TRY(zn_check_map(node, 0, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

zenith_status zn_infer_two_maps(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 2, err));
    ZN_TRY(zn_check_map(node, 0, err));
    ZN_TRY(zn_check_same_shape(node, 0, 1, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

zenith_status zn_check_stats(const zn_node *node, int input, zn_error *err)
{
    const zn_shape *x = &node->inputs[0]->desc.shape, *stats = &node->inputs[input]->desc.shape;
    if (stats->rank == 3 && stats->dim[0] == x->dim[0] && stats->dim[1] >= 1 &&
        stats->dim[2] == 2 && x->dim[3] % stats->dim[1] == 0)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INTERNAL, "%s: statistics of another map", node->op->name);
}

size_t zn_group_of(const zn_node *node, int input, int64_t image, int64_t channel)
{
    const int64_t channels = node->inputs[0]->desc.shape.dim[3];
    const int64_t groups = node->inputs[input]->desc.shape.dim[1];
    return (size_t)(image * groups + channel / (channels / groups));
}

bool zn_always_rings(const zn_lowering_request *request)
{
    (void)request;
    return true;
}
