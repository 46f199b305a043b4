// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes: each copies a graph into a new one. The caller frees both.
#ifndef ZN_GRAPH_PASSES_H
#define ZN_GRAPH_PASSES_H

#include "src/graph/op.h"

// Replaces what the patterns of `ops` match by the fused operator; larger patterns first. A matched
// inner node must have no other reader. cpu NULL: before types are known, without the operators
// that have `accepts`; else those alone.
zenith_status zn_pass_fuse(const zn_graph *src, const zn_op *const *ops, int ops_count,
                           const zn_cpu *cpu, zn_graph *dst, zn_error *err);

// How precisely a value is kept where maps are bf16. Maps in f16 are multiplied in f32, so there
// all but the first mean: stored in f32.
typedef enum zn_precision {
    ZN_PRECISION_PLAIN = 0, // stored in bf16
    ZN_PRECISION_STORED, // stored in f32, multiplied in bf16: for a residual stream, which adds up
    ZN_PRECISION_SPLIT,  // stored in f32, multiplied as two bf16: twice the work, nearly f32
    ZN_PRECISION_FULL    // stored and multiplied in f32: for weights that bf16 does not hold
} zn_precision;

// How maps are stored and multiplied. Everything in f32, in bf16 or in f16; and in 8 bits where
// `quantise` says so and `range` knows the values.
typedef struct zn_type_policy {
    zn_type type; // ZN_F32, ZN_BF16 or ZN_F16
    // May this ZN_OP_MATMUL node compute in 8 bits? NULL: none does.
    bool (*quantise)(void *cookie, const zn_node *node);
    // The largest magnitude of the node's values, and whether none is negative. False: not known.
    bool (*range)(void *cookie, const zn_node *node, float *largest, bool *positive);
    // Is this node's result stored in `type`, though every reader takes it in 8 bits? For a
    // residual stream: each sum would round again. NULL: none is.
    bool (*floating)(void *cookie, const zn_node *node);
    // With bf16 and f16: what the node's values need beyond it. NULL: nothing.
    zn_precision (*precision)(void *cookie, const zn_node *node);
    void *cookie;
    // Builds the operator that changes a map's type.
    zn_node *(*convert)(zn_graph *graph, zn_node *node, zn_type type, float scale);
} zn_type_policy;

// Gives every computed map its type and scale and puts conversions where a reader wants another
// one. The graph's outputs stay as they are.
zenith_status zn_pass_types(const zn_graph *src, const zn_type_policy *policy, zn_graph *dst,
                            zn_error *err);

// Less memory for gradients: maps are computed again after the time when memory is highest rather
// than kept over it, for at most `share` more work (0.3: the forward part of training, about once).
// The last pass, on the graph that is planned in planes: it looks at the bytes and the work of each
// node as it will run. The values are the same, bit for bit.
zenith_status zn_pass_recompute(const zn_graph *src, double share, zn_graph *dst, zn_error *err);

#endif
