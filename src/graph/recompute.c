// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Recomputation: backward nodes read copies of forward nodes that stand right before them, so that the
// originals die in the forward pass. A copy is made when a backward node first asks for it, with what
// it needs back to values that stay; backward nodes come in reverse order, so that one stretch between
// two such values is in memory at a time.
#include "src/graph/passes.h"

typedef struct recomputation {
    const zn_graph *src;
    size_t forward;
    const bool *keep;
    zn_graph *dst;
    zn_node **copies; // by id
    zn_node **again;  // by id: the copy that backward nodes read, once one has asked
    bool *wanted;     // by id: to be copied again now
} recomputation;

// Leaves and what is no map take no room to speak of.
static bool stays(const recomputation *r, const zn_node *node)
{
    return (size_t)node->id >= r->forward || node->kind != ZN_NODE_OP || !zn_node_is_map(node) ||
           r->keep[node->id];
}

static zn_node *copy_with(recomputation *r, const zn_node *node)
{
    zn_node *inputs[ZN_PATTERN_MAX];
    for (int i = 0; i < node->inputs_count; i++) {
        const int id = node->inputs[i]->id;
        inputs[i] = r->again[id] ? r->again[id] : r->copies[id];
    }
    return zn_graph_copy(r->dst, node, inputs);
}

// Copies a forward node again, and before it what it needs.
static void recompute(recomputation *r, const zn_node *node)
{
    r->wanted[node->id] = true;
    for (int id = node->id; id >= 0; id--) {
        const zn_node *reader = r->src->nodes[id];
        for (int i = 0; r->wanted[id] && i < reader->inputs_count; i++) {
            const zn_node *input = reader->inputs[i];
            if (!stays(r, input) && !r->again[input->id]) r->wanted[input->id] = true;
        }
    }
    for (int id = 0; id <= node->id; id++) {
        if (r->wanted[id]) r->again[id] = copy_with(r, r->src->nodes[id]);
        r->wanted[id] = false;
    }
}

static zn_node *copy_forward(recomputation *r, const zn_node *node)
{
    zn_node *inputs[ZN_PATTERN_MAX];
    for (int i = 0; i < node->inputs_count; i++) inputs[i] = r->copies[node->inputs[i]->id];
    return zn_graph_copy(r->dst, node, inputs);
}

static zn_node *copy_backward(recomputation *r, const zn_node *node)
{
    for (int i = 0; i < node->inputs_count; i++) {
        const zn_node *input = node->inputs[i];
        if (!stays(r, input) && !r->again[input->id]) recompute(r, input);
    }
    return copy_with(r, node);
}

static zenith_status copy_graph(recomputation *r)
{
    const zn_graph *src = r->src;
    for (size_t id = 0; id < src->count && r->dst->status == ZENITH_OK; id++) {
        const zn_node *node = src->nodes[id];
        r->copies[id] = id < r->forward ? copy_forward(r, node) : copy_backward(r, node);
    }
    for (size_t id = 0; id < src->count; id++) {
        const zn_node *update = src->nodes[id]->update;
        if (update) zn_graph_state_update(r->dst, r->copies[id], r->copies[update->id]);
    }
    for (size_t i = 0; i < src->outputs_count; i++)
        zn_graph_output(r->dst, r->copies[src->outputs[i]->id]);
    return zn_graph_finish(r->dst);
}

zenith_status zn_pass_recompute(const zn_graph *src, size_t forward, const bool *keep,
                                zn_graph *dst, zn_error *err)
{
    zn_graph_begin(dst, err);
    const size_t n = src->count;
    recomputation r = {.src = src,
                       .forward = forward,
                       .keep = keep,
                       .dst = dst,
                       .copies = zn_arena_alloc(&dst->arena, n * sizeof *r.copies),
                       .again = zn_arena_alloc(&dst->arena, n * sizeof *r.again),
                       .wanted = zn_arena_alloc(&dst->arena, n * sizeof *r.wanted)};
    zenith_status status = ZENITH_OK;
    if (!r.copies || !r.again || !r.wanted) {
        status = zn_fail_memory(err, n * sizeof *r.copies);
        goto fail;
    }
    ZN_GO(copy_graph(&r));
    return ZENITH_OK;
fail:
    zn_graph_free(dst);
    return status;
}

// --- what to keep -------------------------------------------------------------------------------

static bool is_read_backward(const zn_graph *graph, size_t forward, const zn_node *node)
{
    for (size_t id = forward; id < graph->count; id++) {
        const zn_node *reader = graph->nodes[id];
        for (int i = 0; i < reader->inputs_count; i++) {
            if (reader->inputs[i] == node) return true;
        }
    }
    return false;
}

// The earliest computed map that a forward node after `node` reads.
static int earliest_read_after(const zn_graph *graph, size_t forward, const zn_node *node)
{
    int earliest = node->id;
    for (size_t id = (size_t)node->id + 1; id < forward; id++) {
        const zn_node *reader = graph->nodes[id];
        for (int i = 0; i < reader->inputs_count; i++) {
            const zn_node *input = reader->inputs[i];
            if (input->kind == ZN_NODE_OP && zn_node_is_map(input) && input->id < earliest)
                earliest = input->id;
        }
    }
    return earliest;
}

void zn_recompute_cuts(const zn_graph *graph, size_t forward, bool *keep)
{
    int last_cut = 0, last_start = 0; // of the last stretch that has anything to recompute
    for (size_t id = 0; id < forward; id++) {
        const zn_node *node = graph->nodes[id];
        keep[id] = false;
        if (node->kind != ZN_NODE_OP || !zn_node_is_map(node)) continue;
        if ((node->op->traits & ZN_OP_FOLLOWS) || !is_read_backward(graph, forward, node)) continue;
        keep[id] = earliest_read_after(graph, forward, node) >= node->id;
        if (keep[id])
            last_cut = node->id;
        else
            last_start = last_cut;
    }
    for (size_t id = (size_t)last_start; id < forward; id++) {
        const zn_node *node = graph->nodes[id];
        keep[id] |= node->kind == ZN_NODE_OP && !(node->op->traits & ZN_OP_FOLLOWS);
    }
}
