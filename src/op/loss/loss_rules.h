// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What losses share that are a mean over all elements of a map, or of two maps element by element.
// A loss says what an element is worth, and its gradient the slope of that; the loops are here, so
// that a compiler sees both.
#ifndef ZN_OP_LOSS_RULES_H
#define ZN_OP_LOSS_RULES_H

#include "src/op/operator.h"

// how: the attributes. b: of the second map; of a loss of one map, a again.
typedef double zn_loss_worth_fn(const void *how, double a, double b);
typedef float zn_loss_slope_fn(const void *how, float a, float b);

// `maps` maps of one shape, and for a gradient that of the loss: one number.
static inline zenith_status zn_loss_check(const zn_node *node, int maps, bool gradient,
                                          zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, maps + gradient, maps + gradient, err));
    ZN_TRY(zn_check_map(node, 0, err));
    if (maps > 1) ZN_TRY(zn_check_same_shape(node, 0, 1, err));
    return gradient ? zn_check_vector(node, maps, 1, err) : ZENITH_OK;
}

static inline zenith_status zn_loss_infer(zn_node *node, int maps, zn_error *err)
{
    ZN_TRY(zn_loss_check(node, maps, false, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(1));
    return ZENITH_OK;
}

static inline zenith_status zn_loss_infer_gradient(zn_node *node, int maps, zn_error *err)
{
    ZN_TRY(zn_loss_check(node, maps, true, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

static inline void zn_loss_add_row(const zn_node *node, const float *const *inputs, double *sums,
                                   zn_loss_worth_fn *worth)
{
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const float *a = inputs[0], *b = node->inputs_count > 1 ? inputs[1] : a;
    for (int64_t i = 0; i < dim[2] * dim[3]; i++)
        *sums += worth(node->attributes, (double)a[i], (double)b[i]);
}

// `finish`: the sum over the elements of the first map.
static inline void zn_loss_mean(const zn_node *node, const float *const *values, const double *sums,
                                float *dst)
{
    (void)values;
    size_t count = 0;
    if (!zn_shape_elements(&node->inputs[0]->desc.shape, &count)) return;
    *dst = (float)(*sums / (double)count);
}

static inline void zn_loss_gradient_row(const zn_node *node, const float *const *inputs, float *dst,
                                        zn_loss_slope_fn *slope)
{
    const int maps = node->inputs_count - 1;
    const float *a = inputs[0], *b = inputs[maps - 1];
    const size_t count = zn_row_elements(node);
    size_t all = 1;
    (void)!zn_shape_elements(&node->desc.shape, &all);
    const float each = *inputs[maps] / (float)all;
    for (size_t i = 0; i < count; i++) dst[i] = each * slope(node->attributes, a[i], b[i]);
}

// What descriptors of losses, and of their gradients, have in common.
#define ZN_LOSS_FIELDS                                                                             \
    .traits = ZN_OP_FIXED | ZN_OP_BARRIER, .result_types = ZN_BIT(ZN_F32), .rows = zn_rows_whole,  \
    .finish = zn_loss_mean, .lower = zn_sum_lower
#define ZN_LOSS_GRADIENT_FIELDS                                                                    \
    .row = gradient_row, .lower = zn_row_lower, .no_gradient = ZN_SECOND_GRADIENT

#endif
