// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Recomputation: less memory for more work, and the same bits, since a value is computed again by
// the same operator from the same values.
//
// The run is played through within a limit of bytes, as a cache would be. Where the next value
// finds no room, one that is in memory goes; where a value is read that has gone, it is computed
// again, and before it what it needs. Who goes is a matter of three numbers:
//
//     bytes * distance / work      bytes that it frees, for so many nodes until it is read again,
//                                  and the work of making it again, with what it needs that has
//                                  gone too
//
// The limit is lowered as long as the work stays within what is allowed; the lowest peak is taken.
// Of a network's maps this leaves the small ones that others can be made from, as a person would
// choose them by hand; the end of the network, whose gradients come first, is not computed again.
#include "src/graph/passes.h"

#include <limits.h>
#include <math.h>

// Reading and writing an element costs time, too: as much as so many operations of a convolution.
enum { TOUCH = 100 };
// A value of less than this part of the peak stays.
enum { SMALL = 256 };
// The run has at most so many times the nodes.
enum { GROWTH = 4 };
// How often the limit is lowered, each time by this part of the peak without recomputation.
enum { LIMITS = 96 };

enum { NEVER = INT_MAX, GONE = -1 };

// A node of the source as it is computed, the first time or again, from values before it.
typedef struct value {
    const zn_node *node;
    int inputs[ZN_MAX_INPUTS];
} value;

typedef struct timeline {
    value *values; // in the order in which they are computed
    int count;
    size_t peak; // bytes alive at a time, at most
    double work;
} timeline;

typedef struct recomputation {
    const zn_graph *src;
    zn_arena arena;
    int capacity; // of time lines
    double work_allowed;
    size_t small;

    // By id of the source.
    size_t *bytes;
    double *work;
    bool *stays;  // to the end: what is pushed to a state
    int *readers; // readers_of[id] .. readers_of[id + 1]: ids, increasing
    int *readers_of;

    // Of the run that is played.
    timeline *t;
    size_t limit, used;
    double power;  // of the distance
    int now;       // the node whose turn it is
    int *resident; // by id: its value in memory, or GONE
    int *pins;     // by id: how many values are being made from it
    int *needed;   // by id: the node that reads it next, or something made from it
    int *stack, *seen, stamp;
    int64_t *live; // by value
} recomputation;

// --- who goes -----------------------------------------------------------------------------------

static bool has_gone(const recomputation *r, int id)
{
    return r->resident[id] == GONE;
}

// When each value is needed next: by a reader whose turn comes, or to make one again that has gone.
static void find_needs(recomputation *r)
{
    for (int id = r->now; id >= 0; id--) {
        r->needed[id] = NEVER;
        for (int i = r->readers_of[id]; i < r->readers_of[id + 1]; i++) {
            const int reader = r->readers[i];
            const int need = reader >= r->now      ? reader
                             : has_gone(r, reader) ? r->needed[reader]
                                                   : NEVER;
            if (need < r->needed[id]) r->needed[id] = need;
        }
    }
}

// The work of making a value again, with those before it that have gone.
static double work_again(recomputation *r, int id)
{
    double work = 0;
    int top = 0;
    r->stamp++;
    r->stack[top++] = id;
    r->seen[id] = r->stamp;
    while (top > 0) {
        const zn_node *node = r->src->nodes[r->stack[--top]];
        work += r->work[node->id];
        for (int i = 0; i < node->inputs_count; i++) {
            const int input = node->inputs[i]->id;
            if (!has_gone(r, input) || r->seen[input] == r->stamp) continue;
            r->seen[input] = r->stamp;
            r->stack[top++] = input;
        }
    }
    return work;
}

static double worth_of_going(recomputation *r, int id)
{
    // A leaf cannot be computed again: it is never taken to have gone, even after its last reader.
    if (r->src->nodes[id]->kind != ZN_NODE_OP || r->stays[id]) return 0;
    if (has_gone(r, id) || r->pins[id] > 0 || r->bytes[id] == 0) return 0;
    if (r->needed[id] == NEVER) return INFINITY;
    if (r->bytes[id] < r->small) return 0;
    const double distance = pow(r->needed[id] - r->now, r->power);
    return (double)r->bytes[id] * distance / work_again(r, id);
}

static bool make_room(recomputation *r, size_t bytes)
{
    while (r->used + bytes > r->limit) {
        int goes = GONE;
        double most = 0;
        find_needs(r);
        for (int id = 0; id < r->now; id++) {
            const double worth = worth_of_going(r, id);
            if (worth <= most) continue;
            most = worth;
            goes = id;
        }
        if (goes == GONE) return false;
        r->used -= r->bytes[goes];
        r->resident[goes] = GONE;
    }
    return true;
}

// --- a run --------------------------------------------------------------------------------------

// Computes a node, after those of its inputs that have gone. False: not within the limits.
static bool compute(recomputation *r, int id)
{
    timeline *t = r->t;
    const zn_node *node = r->src->nodes[id];
    bool fits = true;
    for (int i = 0; i < node->inputs_count; i++) {
        const int input = node->inputs[i]->id;
        if (fits && has_gone(r, input)) fits = compute(r, input);
        r->pins[input]++;
    }
    t->work += r->work[id];
    fits = fits && t->count < r->capacity && t->work <= r->work_allowed &&
           make_room(r, r->bytes[id]);
    if (fits) {
        value made = {.node = node};
        for (int i = 0; i < node->inputs_count; i++)
            made.inputs[i] = r->resident[node->inputs[i]->id];
        t->values[t->count] = made;
        r->resident[id] = t->count++;
        r->used += r->bytes[id];
    }
    for (int i = 0; i < node->inputs_count; i++) r->pins[node->inputs[i]->id]--;
    return fits;
}

// A value lives from its own turn to its last reader's, as in the plan. Backwards, so that the last
// reader is met first.
static void measure(recomputation *r)
{
    timeline *t = r->t;
    int *dies = r->stack;
    int64_t alive = 0;
    for (int v = 0; v <= t->count; v++) r->live[v] = 0;
    for (int v = 0; v < t->count; v++) dies[v] = v;
    for (int v = 0; v < t->count; v++) {
        const zn_node *node = t->values[v].node;
        for (int i = 0; i < node->inputs_count; i++) dies[t->values[v].inputs[i]] = v;
    }
    for (int v = 0; v < t->count; v++) {
        const int id = t->values[v].node->id;
        if (r->stays[id]) dies[v] = t->count - 1;
        r->live[v] += (int64_t)r->bytes[id];
        r->live[dies[v] + 1] -= (int64_t)r->bytes[id];
    }
    t->peak = 0;
    for (int v = 0; v < t->count; v++) {
        alive += r->live[v];
        if ((size_t)alive > t->peak) t->peak = (size_t)alive;
    }
}

static bool play(recomputation *r, timeline *t, size_t limit, double power)
{
    const int nodes = (int)r->src->count;
    r->t = t;
    r->limit = limit;
    r->power = power;
    r->used = 0;
    t->count = 0;
    t->work = 0;
    for (int id = 0; id < nodes; id++) {
        r->resident[id] = GONE;
        r->pins[id] = 0;
    }
    for (r->now = 0; r->now < nodes; r->now++) {
        if (!compute(r, r->now)) return false;
    }
    measure(r);
    return true;
}

// The lowest peak of all limits and powers, in *best.
static void search(recomputation *r, timeline *best, timeline *trial)
{
    (void)play(r, best, SIZE_MAX / 2, 1); // everything fits: the nodes in their order
    const size_t whole = best->peak;
    r->small = whole / SMALL;
    for (int power = 0; power < 4; power++) {
        for (size_t i = 1; i < LIMITS; i++) {
            if (!play(r, trial, whole - whole / LIMITS * i, power / 2.0)) continue;
            if (trial->peak >= best->peak) continue;
            timeline kept = *best;
            *best = *trial;
            *trial = kept;
        }
    }
}

// --- in and out ---------------------------------------------------------------------------------

static bool allocate(recomputation *r, timeline *best, timeline *trial)
{
    const zn_graph *src = r->src;
    const size_t n = src->count, most = n * GROWTH;
    size_t edges = 0;
    for (size_t id = 0; id < n; id++) edges += (size_t)src->nodes[id]->inputs_count;
    r->capacity = (int)most;
    r->bytes = zn_arena_alloc(&r->arena, n * sizeof *r->bytes);
    r->work = zn_arena_alloc(&r->arena, n * sizeof *r->work);
    r->stays = zn_arena_alloc(&r->arena, n * sizeof *r->stays);
    r->readers = zn_arena_alloc(&r->arena, (edges + 1) * sizeof *r->readers);
    r->readers_of = zn_arena_alloc(&r->arena, (n + 2) * sizeof *r->readers_of);
    r->resident = zn_arena_alloc(&r->arena, n * sizeof *r->resident);
    r->pins = zn_arena_alloc(&r->arena, n * sizeof *r->pins);
    r->needed = zn_arena_alloc(&r->arena, n * sizeof *r->needed);
    r->stack = zn_arena_alloc(&r->arena, most * sizeof *r->stack);
    r->seen = zn_arena_alloc(&r->arena, n * sizeof *r->seen);
    r->live = zn_arena_alloc(&r->arena, (most + 1) * sizeof *r->live);
    best->values = zn_arena_alloc(&r->arena, most * sizeof *best->values);
    trial->values = zn_arena_alloc(&r->arena, most * sizeof *trial->values);
    return r->bytes && r->work && r->stays && r->readers && r->readers_of && r->resident &&
           r->pins && r->needed && r->stack && r->seen && r->live && best->values && trial->values;
}

static zenith_status weigh_nodes(recomputation *r, double share, zn_error *err)
{
    double total = 0;
    for (size_t id = 0; id < r->src->count; id++) {
        const zn_node *node = r->src->nodes[id];
        size_t elements = 0;
        if (node->kind == ZN_NODE_PARAMETER || node->kind == ZN_NODE_STATE) continue;
        if (!zn_desc_bytes(&node->desc, &r->bytes[id]) ||
            !zn_shape_elements(&node->desc.shape, &elements) || r->bytes[id] > SIZE_MAX / 4) {
            return zn_fail(err, ZENITH_LIMIT, "'%s' is too large for this machine's memory",
                           node->name);
        }
        r->work[id] = zn_node_flops(node) + TOUCH * (double)elements;
        total += r->work[id];
    }
    for (size_t i = 0; i < r->src->pushes_count; i++) r->stays[r->src->pushes[i].node->id] = true;
    r->work_allowed = total * (1 + share);
    return ZENITH_OK;
}

// Readers of each node, one after the other: counted, then put in.
static void list_readers(recomputation *r)
{
    const zn_graph *src = r->src;
    int *next = r->readers_of + 1; // of a node: where its next reader goes
    for (size_t id = 0; id < src->count; id++) {
        const zn_node *node = src->nodes[id];
        for (int i = 0; i < node->inputs_count; i++) next[node->inputs[i]->id + 1]++;
    }
    for (size_t id = 0; id < src->count; id++) next[id + 1] += next[id];
    for (size_t id = 0; id < src->count; id++) {
        const zn_node *node = src->nodes[id];
        for (int i = 0; i < node->inputs_count; i++)
            r->readers[next[node->inputs[i]->id]++] = (int)id;
    }
}

static zenith_status write_graph(const recomputation *r, const timeline *t, zn_graph *dst)
{
    const zn_graph *src = r->src;
    zn_node **made = zn_arena_alloc(&dst->arena, (size_t)t->count * sizeof *made);
    zn_node **first = zn_arena_alloc(&dst->arena, src->count * sizeof *first);
    if (!made || !first) return zn_fail_memory(dst->err, (size_t)t->count * sizeof *made);
    for (int v = 0; v < t->count && dst->status == ZENITH_OK; v++) {
        const zn_node *node = t->values[v].node;
        zn_node *inputs[ZN_MAX_INPUTS];
        for (int i = 0; i < node->inputs_count; i++) inputs[i] = made[t->values[v].inputs[i]];
        made[v] = zn_graph_copy(dst, node, inputs);
        if (!first[node->id]) first[node->id] = made[v];
    }
    for (size_t i = 0; i < src->pushes_count; i++)
        zn_graph_push(dst, src->pushes[i].state, first[src->pushes[i].node->id]);
    for (size_t i = 0; i < src->outputs_count; i++)
        zn_graph_output(dst, first[src->outputs[i]->id]);
    return zn_graph_finish(dst);
}

zenith_status zn_pass_recompute(const zn_graph *src, double share, zn_graph *dst, zn_error *err)
{
    zn_graph_begin(dst, err);
    zenith_status status = ZENITH_OK;
    recomputation r = {.src = src};
    timeline best = {0}, trial = {0};
    if (!allocate(&r, &best, &trial)) {
        status = zn_fail_memory(err, src->count * GROWTH * sizeof(value));
        goto fail;
    }
    ZN_GO(weigh_nodes(&r, share, err));
    list_readers(&r);
    search(&r, &best, &trial);
    ZN_GO(write_graph(&r, &best, dst));
fail:
    zn_arena_free(&r.arena);
    if (status != ZENITH_OK) zn_graph_free(dst);
    return status;
}
