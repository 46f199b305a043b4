// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A scope: the graph under construction, where its parameters come from, and a prefix for names.
// Blocks are functions from a scope, a name and a node to a node.
#ifndef ZN_NN_SCOPE_H
#define ZN_NN_SCOPE_H

#include "src/base/share.h"
#include "src/graph/graph.h"

enum { ZN_NAME_SIZE = 96, ZN_LAYOUT_SIZE = 384 };

// Some rows (dimension 0) or columns (1) of a matrix.
typedef struct zn_cut {
    int dimension;
    int64_t begin, end;
} zn_cut;

typedef struct zn_scope {
    zn_graph *graph;
    // The parameter `name` ("decoder.3.conv.0.weight") as a node; NULL after a failure. A dimension
    // below zero in `shape` fits any size. Where there are no weights to ask, -n is n, and -1 the
    // width that was asked for.
    zn_node *(*parameter)(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape);
    void *cookie;
    const char *prefix; // "decoder."
    bool direct;        // of convolutions: see zn_conv2d_attributes
    bool int8;          // of linear layers: see zn_linear_attributes
    const char *layout; // of a family whose weights say how they are arranged; NULL: the usual one
    // What this process has of the network, and how it gets a part of a matrix; NULL, both: the
    // whole.
    const zn_share *share;
    zn_node *(*part)(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape,
                     const zn_cut *cut);
} zn_scope;

// prefix + name + tail into dst, which is returned.
const char *zn_scope_name(const zn_scope *scope, const char *name, const char *tail,
                          char dst[ZN_NAME_SIZE]);
// The parameter prefix + name + tail.
zn_node *zn_scope_parameter(const zn_scope *scope, const char *name, const char *tail,
                            zn_shape shape);
// A part of the matrix of this shape; all of it where the scope has no share.
zn_node *zn_scope_part(const zn_scope *scope, const char *name, const char *tail, zn_shape shape,
                       zn_cut cut);

#endif
