// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The graph: what a model computes, described once. A node is an operator with inputs, attributes
// and the description of its result; the same graph is fused, typed, planned in bands, costed
// and printed.
//
// Invariants
//   1. nodes[i]->id == i, and every input of a node has a smaller id: the array is an order of
//      evaluation.
//   2. A node has one result. Feature maps are [1, h, w, c], one picture each (a batch is several
//      runs); other results have rank 0 to 6.
//   3. Nodes are not changed after they are built. Passes copy a graph into a new one.
//   4. All memory is the graph's arena; parameters point at bytes that outlive the graph (a mapped
//      file). Of a parameter that is read by rows the graph has its own copy of the row source.
#ifndef ZN_GRAPH_GRAPH_H
#define ZN_GRAPH_GRAPH_H

#include "src/base/memory.h"
#include "src/tensor/tensor.h"

#include <stdbool.h>

enum { ZN_MAX_INPUTS = 8 }; // of a node; zn_graph_add refuses more

typedef struct zn_op zn_op;
typedef struct zn_node zn_node;

typedef enum zn_node_kind {
    ZN_NODE_OP,        // computed by `op`
    ZN_NODE_INPUT,     // given by the caller of each run, row by row
    ZN_NODE_PARAMETER, // a weight: `constant` has its bytes
    ZN_NODE_STATE,     // a frame of an earlier run, `age` pushes ago; zero where there was none
    ZN_NODE_SCALAR     // one f32 that the caller sets for each run (a timestep)
} zn_node_kind;

struct zn_node {
    zn_node_kind kind;
    int id;
    const zn_op *op;        // NULL for leaves
    zn_node *const *inputs; // inputs_count of them
    int inputs_count;
    const void *attributes; // the operator's own struct, NULL if it has none
    zn_desc desc;
    const char *name; // for people, observers and calibration; "" if none was given
    zn_tensor constant;
    int age; // of a state: 1 is the frame that was pushed last
};

// What a run adds to a state: the value of `node` is its newest frame from the next run on.
typedef struct zn_push {
    const char *state;
    zn_node *node;
} zn_push;

typedef struct zn_graph {
    zn_arena arena;
    zn_node **nodes;
    size_t count, capacity;
    zn_node **outputs;
    size_t outputs_count, outputs_capacity;
    zn_push *pushes; // of one state: oldest first
    size_t pushes_count, pushes_capacity;
    zn_error *err;
    zenith_status status; // first failure while building; see below
} zn_graph;

// Building. A builder returns a node, or NULL after a failure, and takes NULL inputs quietly: a
// model is written as straight code and checks zn_graph_finish once. The first failure's sentence
// is in `err`.
void zn_graph_begin(zn_graph *graph, zn_error *err);
zenith_status zn_graph_finish(zn_graph *graph);
void zn_graph_free(zn_graph *graph); // a zeroed one is fine

zn_node *zn_graph_input(zn_graph *graph, const char *name, zn_desc desc);
zn_node *zn_graph_parameter(zn_graph *graph, const char *name, zn_tensor constant);
zn_node *zn_graph_scalar(zn_graph *graph, const char *name);

// A state is a named sequence of frames, of which the last few are kept from run to run (states.h).
// zn_graph_state is the frame of `age` pushes ago, of any earlier run; zn_graph_push makes a
// computed value, or an input, the next frame. A graph may read a state that it does not push, and
// push one that it does not read: several graphs share a state by its name. zn_pass_types gives a
// state the type of what is pushed.
zn_node *zn_graph_state(zn_graph *graph, const char *name, zn_desc desc, int age);
void zn_graph_push(zn_graph *graph, const char *state, zn_node *value);

// A node of `op`; attributes (op->attributes_size bytes) are copied, the result's shape inferred.
zn_node *zn_graph_add(zn_graph *graph, const zn_op *op, const char *name, zn_node *const *inputs,
                      int inputs_count, const void *attributes);
void zn_graph_output(zn_graph *graph, zn_node *node);

// Takes back the node that was added last, which nothing names yet.
void zn_graph_take_back(zn_graph *graph, const zn_node *node);
// A copy of `node` (a leaf too) in another graph, with other inputs, as many as before: what passes
// are made of.
zn_node *zn_graph_copy(zn_graph *graph, const zn_node *node, zn_node *const *inputs);

zn_node *zn_graph_find(const zn_graph *graph, const char *name); // NULL if there is none

// How many inputs of nodes, outputs of the graph and pushes name each node: uses[id], in `arena`.
// NULL when there is no memory.
int *zn_graph_count_uses(const zn_graph *graph, zn_arena *arena);

static inline bool zn_node_is_map(const zn_node *node)
{
    return node->desc.shape.rank == 4 && node->kind != ZN_NODE_PARAMETER;
}

#endif
