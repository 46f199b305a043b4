// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors of weights files as parameters of graphs. They stay where the file has them; lowerings
// read them from there when they pack. Matrices in fewer bits (format/tensor/stored_weight.h) are
// read by rows.
#ifndef ZN_MODEL_STORED_PARAMETER_H
#define ZN_MODEL_STORED_PARAMETER_H

#include "src/format/tensor/weights.h"
#include "src/graph/graph.h"
#include "src/nn/scope.h"

// Where a file has a parameter: a tensor, or one of several equal parts of its rows (queries, keys
// and values of an attention may be one matrix).
typedef struct zn_stored_name {
    char name[ZN_NAME_SIZE];
    int piece, pieces; // pieces 0: all of it
} zn_stored_name;

// The tensor `stored` as the parameter `name` of the graph. A dimension below zero in `shape` fits
// any size. NULL, with the graph's status and a sentence, where it is not there, has another shape,
// or a type that is not computed with.
zn_node *zn_stored_parameter(const zn_weights *weights, const char *stored, zn_graph *graph,
                             const char *name, const zn_shape *shape);
// The same of a piece.
zn_node *zn_stored_piece(const zn_weights *weights, const zn_stored_name *stored, zn_graph *graph,
                         const char *name, const zn_shape *shape);
// Some rows or columns of a matrix, or of a piece of one, that has this shape.
zn_node *zn_stored_cut(const zn_weights *weights, const zn_stored_name *stored, zn_graph *graph,
                       const char *name, const zn_shape *shape, const zn_cut *cut);

#endif
