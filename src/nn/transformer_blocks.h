// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What transformers of text and of pictures share. Each block reads its parameters from the scope
// under the names it is given.
#ifndef ZN_NN_TRANSFORMER_BLOCKS_H
#define ZN_NN_TRANSFORMER_BLOCKS_H

#include "src/nn/layers.h"
#include "src/op/token/token_ops.h"

// x over the root of its mean square, times NAME.weight. groups: heads that are normed by
// themselves.
zn_node *zn_nn_rms_norm(const zn_scope *scope, const char *name, zn_node *x, int groups,
                        float epsilon);

// Queries or keys: a product with LINEAR.weight, each head normed by NORM.weight and turned by the
// angles of its token. A share of a network has that part of the heads.
typedef struct zn_nn_heads {
    const char *linear, *norm;
    int heads;     // of all shares
    int together;  // that one share has: those of queries that have the same keys
    int64_t width; // of a head
    float epsilon;
    zn_rope_pairs pairs;
} zn_nn_heads;
zn_node *zn_nn_turned_heads(const zn_scope *scope, const zn_nn_heads *heads, zn_node *x,
                            zn_node *angles);

// DOWN(silu(GATE(x)) * UP(x)), without biases, through `inner` channels, of which a share has a
// part. The result has the channels of x.
typedef struct zn_nn_gated_names {
    const char *gate, *up, *down;
} zn_nn_gated_names;
zn_node *zn_nn_gated_forward(const zn_scope *scope, const zn_nn_gated_names *names, zn_node *x,
                             int64_t inner);

// How the channels inside a gated product are divided.
zn_nn_units zn_nn_inner_units(const zn_scope *scope, int64_t inner);
// Whether each share gets some of both; else the graph fails with a sentence.
bool zn_nn_can_share(const zn_scope *scope, int64_t key_heads, int64_t inner);

// One row of rope's table: the cosines of all pairs of a head and then the sines. The head's
// channels are divided among axes, each with its own position; pair i of an axis of `width`
// channels turns by position * theta^(-2i / width).
typedef struct zn_rope_axis {
    int width;
    double position;
} zn_rope_axis;
// rounded: frequencies are f32 before they are multiplied, as in code that computes in f32
// throughout. The angle is f32 in any case.
void zn_rope_row(const zn_rope_axis *axes, int count, double theta, bool rounded, float *row);

#endif
