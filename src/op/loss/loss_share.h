// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a mean over all elements of a map gives of its gradient to each.
#ifndef ZN_OP_LOSS_SHARE_H
#define ZN_OP_LOSS_SHARE_H

#include "src/graph/op.h"

static inline float zn_loss_share(const zn_node *map, float dloss)
{
    size_t count = 1;
    (void)!zn_shape_elements(&map->desc.shape, &count);
    return dloss / (float)count;
}

#endif
