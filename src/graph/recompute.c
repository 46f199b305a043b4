// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Recomputation: less memory for more work, and the same bits, since a value is computed again by the
// same operator from the same values.
//
// The graph is a list of values in their order of computation. Memory is highest at one of them, the
// peak. A value that is alive there but not read there waits for a later reader; computed again right
// before that reader, it need not wait:
//
//     a . . . . . . . peak . . . . reads a      a lives over the peak
//     a . .           peak . . a'. reads a'     a dies at its last reader before it
//
// What a' is computed from is alive at its place, or is made so: an input that a later copy exists of
// has that copy moved forward, or is itself computed again. Step by step the value goes that frees the
// most at the peak for the work it costs, until no step helps or the work allowed is spent. From the
// maps of a network this leaves a few small ones, as a person would choose them by hand.
//
// Invariants
//   1. values[0 .. nodes) are the source's nodes by id; those after them are copies. An original comes
//      before its copies and never moves.
//   2. `order` is a permutation of the values, and inputs come before their readers.
#include "src/graph/passes.h"

#include <string.h>

// Reading and writing an element costs time, too: as much as so many operations of a convolution.
enum { TOUCH = 100 };
// Copies are at most so many times the nodes; and a value of less than this part of the peak stays.
enum { GROWTH = 4, SMALL = 256 };

typedef struct value {
    const zn_node *node;
    int inputs[ZN_PATTERN_MAX]; // indices of values
    size_t bytes;
    double work;
    int born, dies; // positions in `order`: its own, and its last reader's
} value;

typedef struct timeline {
    value *values;
    int *order;
    int count, capacity;
    double work;
    size_t peak; // bytes alive at position `peak_at`
    int peak_at;
} timeline;

typedef struct recomputation {
    const zn_graph *src;
    double work_allowed;
    size_t small;     // bytes that are not worth the work
    int *changes_end; // by id: 1 if the value is read after the run (what a state becomes)
    int64_t *live;    // by position
    zn_arena arena;
} recomputation;

// --- time lines ---------------------------------------------------------------------------------

static bool make_timeline(recomputation *r, timeline *out)
{
    const size_t capacity = r->src->count * GROWTH;
    *out = (timeline){.values = zn_arena_alloc(&r->arena, capacity * sizeof *out->values),
                      .order = zn_arena_alloc(&r->arena, capacity * sizeof *out->order),
                      .capacity = (int)capacity};
    return out->values && out->order;
}

static void copy_timeline(timeline *dst, const timeline *src)
{
    timeline made = *src;
    made.values = dst->values;
    made.order = dst->order;
    memcpy(made.values, src->values, (size_t)src->count * sizeof *src->values);
    memcpy(made.order, src->order, (size_t)src->count * sizeof *src->order);
    *dst = made;
}

// The lives of values, and the peak. Planes are placed by the same lives.
static void measure(const recomputation *r, timeline *t)
{
    for (int at = 0; at < t->count; at++) {
        value *made = &t->values[t->order[at]];
        made->born = made->dies = at;
        for (int i = 0; i < made->node->inputs_count; i++) t->values[made->inputs[i]].dies = at;
    }
    memset(r->live, 0, (size_t)(t->count + 1) * sizeof *r->live);
    for (int v = 0; v < t->count; v++) {
        value *made = &t->values[v];
        if (v < (int)r->src->count && r->changes_end[v]) made->dies = t->count - 1;
        r->live[made->born] += (int64_t)made->bytes;
        r->live[made->dies + 1] -= (int64_t)made->bytes;
    }
    t->peak = 0;
    for (int at = 0; at < t->count; at++) {
        if (at > 0) r->live[at] += r->live[at - 1];
        if ((size_t)r->live[at] <= t->peak) continue;
        t->peak = (size_t)r->live[at];
        t->peak_at = at;
    }
}

static void move(timeline *t, int from, int to)
{
    const int moving = t->order[from];
    if (from > to) {
        memmove(t->order + to + 1, t->order + to, (size_t)(from - to) * sizeof *t->order);
        t->order[to] = moving;
        for (int at = to; at <= from; at++) t->values[t->order[at]].born = at;
    }
}

// --- one step -----------------------------------------------------------------------------------

typedef struct step {
    recomputation *r;
    timeline *t;
    bool afresh; // inputs are computed again even where a later copy could be moved forward
    int at;      // the position before which values are wanted,
    int was_at;  // and what it was before values were put there: `dies` are positions of then
} step;

static int provide(step *s, int v);

// A value of the same node that is alive where it is wanted; else its next copy; -1: there is none.
static int find_other(const step *s, int v, bool later)
{
    int found = -1;
    for (int w = 0; w < s->t->count; w++) {
        const value *other = &s->t->values[w];
        if (other->node != s->t->values[v].node || w == v) continue;
        if (!later && other->born < s->at && other->dies >= s->was_at) return w;
        if (later && other->born >= s->at && (found < 0 || other->born < s->t->values[found].born))
            found = w;
    }
    return found;
}

// Computes a value again at the wanted position, from what is there. -1: there is no room.
static int compute_again(step *s, int v)
{
    timeline *t = s->t;
    value made = t->values[v];
    for (int i = 0; i < made.node->inputs_count; i++) {
        made.inputs[i] = provide(s, made.inputs[i]);
        if (made.inputs[i] < 0) return -1;
    }
    if (t->count == t->capacity) return -1;
    const int w = t->count++;
    made.dies = s->was_at;
    t->values[w] = made;
    t->order[w] = w;
    t->work += made.work;
    move(t, w, s->at);
    t->values[w].born = s->at++;
    return w;
}

static int move_forward(step *s, int v)
{
    const int inputs_count = s->t->values[v].node->inputs_count;
    for (int i = 0; i < inputs_count; i++) {
        const int input = provide(s, s->t->values[v].inputs[i]);
        if (input < 0) return -1;
        s->t->values[v].inputs[i] = input;
    }
    move(s->t, s->t->values[v].born, s->at++);
    return v;
}

// The value, or one of the same node, where it is wanted.
static int provide(step *s, int v)
{
    const value *wanted = &s->t->values[v];
    const bool stays = wanted->node->kind != ZN_NODE_OP || wanted->bytes < s->r->small;
    if (wanted->born < s->at && (stays || wanted->dies >= s->was_at)) return v;
    const int alive = find_other(s, v, false);
    if (alive >= 0) return alive;
    const int later = wanted->born < s->at ? find_other(s, v, true) : v;
    if (later >= 0 && !s->afresh) return move_forward(s, later);
    return compute_again(s, v);
}

// Computes `v` again before its first reader after the peak.
static bool take_step(recomputation *r, timeline *t, int v, bool afresh)
{
    int reader = t->peak_at + 1;
    for (bool found = false; !found; reader += !found) {
        const value *made = &t->values[t->order[reader]];
        for (int i = 0; i < made->node->inputs_count; i++) found |= made->inputs[i] == v;
    }
    step s = {.r = r, .t = t, .afresh = afresh, .at = reader, .was_at = reader};
    const int again = compute_again(&s, v);
    if (again < 0) return false;
    for (int at = s.at; at < t->count; at++) {
        value *made = &t->values[t->order[at]];
        for (int i = 0; i < made->node->inputs_count; i++) {
            if (made->inputs[i] == v) made->inputs[i] = again;
        }
    }
    return true;
}

// --- the search ---------------------------------------------------------------------------------

static bool may_go(const recomputation *r, const timeline *t, int v)
{
    const value *made = &t->values[v];
    if (made->node->kind != ZN_NODE_OP || made->bytes < r->small) return false;
    if (made->born >= t->peak_at || made->dies <= t->peak_at) return false;
    if (v < (int)r->src->count && r->changes_end[v]) return false;
    const value *peak = &t->values[t->order[t->peak_at]];
    for (int i = 0; i < peak->node->inputs_count; i++) {
        if (peak->inputs[i] == v) return false;
    }
    return true;
}

// Bytes freed at the old peak for each operation; 0: this step is not to be taken.
static double judge(const recomputation *r, const timeline *now, timeline *then)
{
    measure(r, then);
    const int64_t left = r->live[then->values[now->order[now->peak_at]].born];
    const double freed = (double)now->peak - (double)left;
    if (then->work > r->work_allowed || then->peak > now->peak) return 0;
    return freed / (then->work - now->work);
}

// Takes the best step from `now` into `best`, with `trial` to try them in. False: there is none.
static bool find_step(recomputation *r, const timeline *now, timeline *best, timeline *trial)
{
    double highest = 0;
    for (int at = 0; at < now->peak_at; at++) {
        const int v = now->order[at];
        if (!may_go(r, now, v)) continue;
        for (int afresh = 0; afresh < 2; afresh++) {
            copy_timeline(trial, now);
            if (!take_step(r, trial, v, afresh)) continue;
            const double score = judge(r, now, trial);
            // Of equals the first: in training it is read last.
            if (score <= highest * 1.01) continue;
            highest = score;
            copy_timeline(best, trial);
        }
    }
    return highest > 0;
}

static void search(recomputation *r, timeline *now, timeline *best, timeline *next, timeline *trial)
{
    measure(r, now);
    r->small = now->peak / SMALL + 1;
    copy_timeline(best, now);
    while (find_step(r, now, next, trial)) {
        copy_timeline(now, next);
        if (now->peak < best->peak) copy_timeline(best, now);
    }
}

// --- in and out ---------------------------------------------------------------------------------

static zenith_status begin(recomputation *r, double share, timeline *t, zn_error *err)
{
    const zn_graph *src = r->src;
    t->count = (int)src->count;
    for (size_t id = 0; id < src->count; id++) {
        const zn_node *node = src->nodes[id];
        value *made = &t->values[id];
        size_t elements = 0;
        made->node = node;
        t->order[id] = (int)id;
        for (int i = 0; i < node->inputs_count; i++) made->inputs[i] = node->inputs[i]->id;
        if (node->kind == ZN_NODE_PARAMETER) continue;
        if (!zn_desc_bytes(&node->desc, &made->bytes) ||
            !zn_shape_elements(&node->desc.shape, &elements) || made->bytes > SIZE_MAX / 4) {
            return zn_fail(err, ZENITH_LIMIT, "'%s' is too large for this machine's memory",
                           node->name);
        }
        made->work = zn_node_flops(node) + TOUCH * (double)elements;
        t->work += made->work;
        if (node->kind == ZN_NODE_STATE) r->changes_end[id] = 1;
        if (node->update) r->changes_end[node->update->id] = 1;
    }
    r->work_allowed = t->work * (1 + share);
    return ZENITH_OK;
}

static zenith_status write_graph(const recomputation *r, const timeline *t, zn_graph *dst)
{
    const zn_graph *src = r->src;
    zn_node **made = zn_arena_alloc(&dst->arena, (size_t)t->count * sizeof *made);
    if (!made) return zn_fail_memory(dst->err, (size_t)t->count * sizeof *made);
    for (int at = 0; at < t->count && dst->status == ZENITH_OK; at++) {
        const value *from = &t->values[t->order[at]];
        zn_node *inputs[ZN_PATTERN_MAX];
        for (int i = 0; i < from->node->inputs_count; i++) inputs[i] = made[from->inputs[i]];
        made[t->order[at]] = zn_graph_copy(dst, from->node, inputs);
    }
    for (size_t id = 0; id < src->count; id++) {
        const zn_node *update = src->nodes[id]->update;
        if (update) zn_graph_state_update(dst, made[id], made[update->id]);
    }
    for (size_t i = 0; i < src->outputs_count; i++) zn_graph_output(dst, made[src->outputs[i]->id]);
    return zn_graph_finish(dst);
}

zenith_status zn_pass_recompute(const zn_graph *src, double share, zn_graph *dst, zn_error *err)
{
    zn_graph_begin(dst, err);
    zenith_status status = ZENITH_OK;
    const size_t n = src->count, most = n * GROWTH + 1;
    recomputation r = {.src = src};
    timeline now, best, next, trial;
    r.changes_end = zn_arena_alloc(&r.arena, n * sizeof *r.changes_end);
    r.live = zn_arena_alloc(&r.arena, most * sizeof *r.live);
    if (!r.changes_end || !r.live || !make_timeline(&r, &now) || !make_timeline(&r, &best) ||
        !make_timeline(&r, &next) || !make_timeline(&r, &trial)) {
        status = zn_fail_memory(err, most * sizeof(value));
        goto fail;
    }
    ZN_GO(begin(&r, share, &now, err));
    search(&r, &now, &best, &next, &trial);
    ZN_GO(write_graph(&r, &best, dst));
fail:
    zn_arena_free(&r.arena);
    if (status != ZENITH_OK) zn_graph_free(dst);
    return status;
}
