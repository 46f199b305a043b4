// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes: each copies a graph into a new one. The caller frees both.
#ifndef ZN_GRAPH_PASSES_H
#define ZN_GRAPH_PASSES_H

#include "src/graph/op.h"

// Replaces what the patterns of `ops` match by the fused operator; larger patterns first. A matched
// inner node must have no other reader.
zenith_status zn_pass_fuse(const zn_graph *src, const zn_op *const *ops, int ops_count, zn_graph *dst,
                           zn_error *err);

// Gives every result its storage type. `choose` is asked for each computed map and answers with a type
// and scale (scale 1 for floating types); it must be one that the operator can make.
typedef struct zn_type_choice {
    zn_type type;
    float scale;
} zn_type_choice;
typedef zn_type_choice zn_choose_type_fn(void *cookie, const zn_node *node);

#endif
