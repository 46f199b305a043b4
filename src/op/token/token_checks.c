// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/token/token_checks.h"

#include "src/op/op_checks.h"
#include "src/op/row_lowering.h"

zenith_status zn_check_tokens(const zn_node *node, int input, zn_error *err)
{
    const zn_shape *shape = &node->inputs[input]->desc.shape;
    if (shape->rank == 1 && shape->dim[0] >= 1) return ZENITH_OK;
    return zn_check_map(node, input, err);
}

bool zn_modulates_columns(const zn_node *node, int input)
{
    return node->inputs[input]->desc.shape.dim[0] != node->inputs[0]->desc.shape.dim[3];
}

zenith_status zn_check_modulator(const zn_node *node, int input, zn_error *err)
{
    const zn_shape *shape = &node->inputs[input]->desc.shape;
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const bool of_row = shape->rank == 1 && shape->dim[0] == dim[2] * dim[3];
    return zn_check_vector(node, input, of_row ? shape->dim[0] : dim[3], err);
}

void zn_infer_tokens(zn_node *node)
{
    const zn_desc *x = &node->inputs[0]->desc;
    const bool keeps = x->shape.rank == 4 && !zn_is_quantised(x->type);
    node->desc = zn_desc_make(keeps ? x->type : ZN_F32, x->shape);
}

static zn_activation kind_of(const zn_node *node)
{
    return ((const zn_activation_attributes *)node->attributes)->kind;
}

zenith_status zn_check_activation(const zn_node *node, zn_error *err)
{
    if (kind_of(node) < ZN_ACTIVATION_COUNT) return ZENITH_OK;
    return zn_fail(err, ZENITH_INTERNAL, "%s: no activation has the number %d", node->op->name,
                   (int)kind_of(node));
}

zn_curve zn_curve_of_kind(zn_activation kind)
{
    static const zn_curve curves[] = {
        [ZN_ACTIVATION_SILU] = ZN_CURVE_SILU,           [ZN_ACTIVATION_GELU] = ZN_CURVE_GELU,
        [ZN_ACTIVATION_GELU_TANH] = ZN_CURVE_GELU_TANH, [ZN_ACTIVATION_TANH] = ZN_CURVE_TANH,
        [ZN_ACTIVATION_LOGISTIC] = ZN_CURVE_LOGISTIC,   [ZN_ACTIVATION_NONE] = ZN_CURVE_NONE,
    };
    return curves[kind];
}

zn_curve zn_curve_of(const zn_node *node)
{
    return zn_curve_of_kind(kind_of(node));
}

int64_t zn_group_width(const zn_node *node, int groups)
{
    const int64_t channels = node->inputs[0]->desc.shape.dim[3];
    return groups >= 1 && channels % groups == 0 ? channels / groups : 0;
}
