// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums and largest values over pixels.
#ifndef ZN_OP_REDUCE_OPS_H
#define ZN_OP_REDUCE_OPS_H

#include "src/graph/op.h"

// Windows of kernel x kernel pixels at every stride-th; kernel >= stride.
typedef struct zn_max_pool_attributes {
    int kernel, stride;
} zn_max_pool_attributes;

// columns: of each column by itself, one after the other: [w * c].
typedef struct zn_channel_sum_attributes {
    bool columns;
} zn_channel_sum_attributes;

int64_t zn_max_pool_length(int64_t length, const zn_max_pool_attributes *a); // of a pooled side
zn_node *zn_max_pool(zn_graph *graph, const char *name, zn_node *x, int kernel, int stride);
zn_node *zn_channel_product_sum(zn_graph *graph, const char *name, zn_node *a, zn_node *b); // [c]
zn_node *zn_channel_sum(zn_graph *graph, const char *name, zn_node *x); // f32 [c]
zn_node *zn_column_product_sum(zn_graph *graph, const char *name, zn_node *a,
                               zn_node *b);                            // [w * c]
zn_node *zn_column_sum(zn_graph *graph, const char *name, zn_node *x); // f32 [w * c]

#endif
