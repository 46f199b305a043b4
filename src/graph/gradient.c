// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Reverse mode. Ids are an order of evaluation, so one walk forwards finds the nodes that depend on
// what is asked for, and one walk backwards meets each node after all its readers: its gradient is
// complete, and goes on to its inputs by the operator's rule.
#include "src/graph/gradient.h"

typedef struct differentiation {
    zn_graph *graph;
    zn_sum_fn *sum;
    bool *leads;         // by id: depends on what is asked for
    zn_node **gradients; // by id: the sum of contributions so far, NULL: none
} differentiation;

static void refuse(zn_graph *graph, zenith_status status)
{
    if (graph->status == ZENITH_OK) graph->status = status;
}

static void find_paths(differentiation *d, const zn_node *loss, zn_node *const *of, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (of[i] && of[i]->id <= loss->id) d->leads[of[i]->id] = true;
    }
    for (int id = 0; id <= loss->id; id++) {
        const zn_node *node = d->graph->nodes[id];
        for (int i = 0; i < node->inputs_count; i++) {
            if (d->leads[node->inputs[i]->id]) d->leads[id] = true;
        }
    }
}

// The gradient of the loss with respect to itself.
static zn_node *one(zn_graph *graph)
{
    float *value = zn_arena_alloc(&graph->arena, sizeof *value);
    if (!value) {
        refuse(graph, zn_fail_memory(graph->err, sizeof *value));
        return NULL;
    }
    *value = 1;
    const zn_tensor constant = {.desc = zn_desc_make(ZN_F32, ZN_SHAPE(1)), .data = value};
    return zn_graph_parameter(graph, "one", constant);
}

// What input `input` of a node gets of the node's gradient.
static void contribute(differentiation *d, const zn_node *node, int input)
{
    zn_graph *graph = d->graph;
    zn_node **total = &d->gradients[node->inputs[input]->id];
    zn_node *part = node->op->gradient(graph, node, input, d->gradients[node->id]);
    if (!part) {
        refuse(graph, zn_fail(graph->err, ZENITH_UNSUPPORTED,
                              "%s '%s' has no gradient for its input %d ('%s')", node->op->name,
                              node->name, input, node->inputs[input]->name));
        return;
    }
    *total = *total ? d->sum(graph, node->inputs[input]->name, *total, part) : part;
}

static void walk_back(differentiation *d, const zn_node *loss)
{
    zn_graph *graph = d->graph;
    for (int id = loss->id; id >= 0 && graph->status == ZENITH_OK; id--) {
        const zn_node *node = graph->nodes[id];
        if (node->kind != ZN_NODE_OP || !d->gradients[id] || !d->leads[id]) continue;
        if (!node->op->gradient) {
            refuse(graph, zn_fail(graph->err, ZENITH_UNSUPPORTED, "%s '%s' has no gradient: %s",
                                  node->op->name, node->name, node->op->no_gradient));
            return;
        }
        // Weights first: the map they were multiplied with then dies before its gradient is born.
        for (int i = node->inputs_count - 1; i >= 0 && graph->status == ZENITH_OK; i--) {
            if (d->leads[node->inputs[i]->id]) contribute(d, node, i);
        }
    }
}

static bool is_loss(const zn_node *node)
{
    const zn_shape *shape = &node->desc.shape;
    return shape->rank == 1 && shape->dim[0] == 1 && node->desc.type == ZN_F32;
}

void zn_graph_gradients(zn_graph *graph, zn_node *loss, zn_node *const *of, size_t count,
                        zn_sum_fn *sum, zn_node **gradients)
{
    for (size_t i = 0; i < count; i++) gradients[i] = NULL;
    if (graph->status != ZENITH_OK) return;
    if (!loss || !is_loss(loss)) {
        refuse(graph, zn_fail(graph->err, ZENITH_INTERNAL, "a loss must be one f32, [1]"));
        return;
    }
    const size_t nodes = (size_t)loss->id + 1;
    differentiation d = {.graph = graph,
                         .sum = sum,
                         .leads = zn_arena_alloc(&graph->arena, nodes * sizeof *d.leads),
                         .gradients = zn_arena_alloc(&graph->arena, nodes * sizeof *d.gradients)};
    if (!d.leads || !d.gradients) {
        refuse(graph, zn_fail_memory(graph->err, nodes * sizeof *d.gradients));
        return;
    }
    find_paths(&d, loss, of, count);
    if (!d.leads[loss->id]) return;
    d.gradients[loss->id] = one(graph);
    walk_back(&d, loss);
    for (size_t i = 0; i < count && graph->status == ZENITH_OK; i++) {
        if (of[i] && of[i]->id <= loss->id) gradients[i] = d.gradients[of[i]->id];
    }
}
