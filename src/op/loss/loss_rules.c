// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/loss/loss_rules.h"

#include "src/op/op_checks.h"

zenith_status zn_loss_infer_pair(zn_node *node, zn_error *err)
{
    ZN_TRY(zn_infer_two_maps(node, err));
    node->desc = zn_desc_make(ZN_F32, ZN_SHAPE(1));
    return ZENITH_OK;
}

void zn_loss_mean(const zn_node *node, const float *const *values, const double *sums, float *dst)
{
    (void)values;
    size_t count = 0;
    if (!zn_shape_elements(&node->inputs[0]->desc.shape, &count)) return;
    *dst = (float)(*sums / (double)count);
}

zenith_status zn_loss_infer_pair_gradient(zn_node *node, zn_error *err)
{
    enum { A, B, DLOSS, INPUTS };
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, A, err));
    ZN_TRY(zn_check_same_shape(node, A, B, err));
    ZN_TRY(zn_check_vector(node, DLOSS, 1, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}
