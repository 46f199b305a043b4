// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors of weights files as parameters of graphs. They stay where the file has them; lowerings
// read them from there when they pack.
#ifndef ZN_MODEL_STORED_PARAMETER_H
#define ZN_MODEL_STORED_PARAMETER_H

#include "src/format/weights.h"
#include "src/graph/graph.h"

// The tensor `stored` as the parameter `name` of the graph. A dimension below zero in `shape` fits
// any size. NULL, with the graph's status and a sentence, where it is not there, has another shape, or a
// type that is not computed with.
zn_node *zn_stored_parameter(const zn_weights *weights, const char *stored, zn_graph *graph,
                             const char *name, const zn_shape *shape);

#endif
