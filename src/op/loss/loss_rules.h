// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What losses share that are a mean over all elements of a map, or of two maps element by element.
#ifndef ZN_OP_LOSS_RULES_H
#define ZN_OP_LOSS_RULES_H

#include "src/graph/op.h"
#include "src/op/op_values.h"

// Of two maps of one shape: one number.
zenith_status zn_loss_infer_pair(zn_node *node, zn_error *err);
// The end of zn_sum_lower: the sum over the elements of the first input.
void zn_loss_mean(const zn_node *node, const float *const *values, const double *sums, float *dst);
// Of the gradient of such a loss of two maps; its inputs are these and the gradient of the loss. Like the first map.
zenith_status zn_loss_infer_pair_gradient(zn_node *node, zn_error *err);

// What a mean over all elements of a map gives of its gradient to each.
static inline float zn_loss_share(const zn_node *map, float dloss)
{
    size_t count = 1;
    (void)!zn_shape_elements(&map->desc.shape, &count);
    return dloss / (float)count;
}

// What two elements are worth. The loops are here so that a compiler sees both.
typedef double zn_loss_worth_fn(double a, double b);

static inline void zn_loss_pair_reference(const zn_tensor *inputs, zn_tensor *output,
                                          zn_loss_worth_fn *worth)
{
    const size_t count = zn_value_count(&inputs[0]);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += worth((double)zn_value_get(&inputs[0], i), (double)zn_value_get(&inputs[1], i));
    zn_value_set(output, 0, (float)(sum / (double)count));
}

static inline void zn_loss_pair_row(const zn_node *node, const float *const *inputs, double *sums,
                                    zn_loss_worth_fn *worth)
{
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    for (int64_t i = 0; i < dim[2] * dim[3]; i++)
        *sums += worth((double)inputs[0][i], (double)inputs[1][i]);
}

#endif
