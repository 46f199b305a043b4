// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Automatic differentiation: the gradients of a loss, as nodes of the same graph. It is done on
// plain operators, before anything is fused or typed; what comes out is fused, typed and planned
// like any other graph.
#ifndef ZN_GRAPH_GRADIENT_H
#define ZN_GRAPH_GRADIENT_H

#include "src/graph/op.h"

// Builds a + b, of equal shapes (zn_add): what a value that is read twice needs.
typedef zn_node *zn_sum_fn(zn_graph *graph, const char *name, zn_node *a, zn_node *b);

// gradients[i] = d loss / d of[i], NULL where the loss does not depend on it. loss is one f32, [1].
// A gradient has the elements of of[i] in its order; that of a rank-4 parameter [o, i, kh, kw] has
// the shape [o, i * kh * kw], because rank 4 means a map. Only nodes that lead from `of` to the
// loss are looked at: frozen parts of a graph need no gradient. Fails as builders do, with a
// sentence that names an operator that has none.
void zn_graph_gradients(zn_graph *graph, zn_node *loss, zn_node *const *of, size_t count,
                        zn_sum_fn *sum, zn_node **gradients);

#endif
