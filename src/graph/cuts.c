// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The search goes through the passes in order. A state is what is held after a pass: a set of cuts
// in the arena and a set in the spill file. From each state a pass has a cost (what it must
// compute, from what is held) and leads to states that hold a part of what was held and of what it
// computed. Of the states after a pass those with the least cost so far, plus the least that is yet
// to come for want of what they do not hold, go on: a beam. So the result is a good plan and not
// always the best one; its bytes and its work are then counted exactly by the schedule.
#include "src/graph/cuts.h"

#include "src/base/memory.h"

#include <string.h>

enum {
    BEAM = 24,       // states that go on after each pass
    TABLE = 1 << 12, // room for states after a pass; a power of two
    NEWEST = 3,      // of the cuts that a pass computes, those that it may keep
    FEW = 5,         // of so many that are held any part may be dropped, else at most two
    MOST = 64,       // cuts that the search looks at; others are not kept
};

// --- what things take ---------------------------------------------------------------------------

double zn_spill_write_seconds(size_t bytes)
{
    return (double)bytes / 0.5e9;
}

double zn_spill_read_seconds(size_t bytes)
{
    return (double)bytes / 1.5e9;
}

double zn_row_seconds(const zn_plan *plan, const zn_node *node, int64_t chunk)
{
    static const double written = 4e9; // bytes in a second, by maps that are made of little work
    const int64_t height = zn_node_is_map(node) ? node->desc.shape.dim[1] : 1;
    const int64_t wanted = zn_rows_for_weights(node, plan->options.threads);
    size_t bytes = 0;
    if (node->kind != ZN_NODE_OP || height == 0 || !zn_desc_bytes(&node->desc, &bytes)) return 0;
    double seconds = zn_node_flops(node) / (2 * zn_plan_assumed_speed(plan, node));
    if (chunk < wanted)
        seconds *= 1.5 - 0.5 * (double)chunk / (double)wanted; // weights again and again
    return (seconds + (double)bytes / written) / (double)height;
}

// --- the cuts -----------------------------------------------------------------------------------

static size_t bytes_of(const zn_node *node)
{
    size_t bytes = 0;
    return zn_desc_bytes(&node->desc, &bytes) ? bytes : SIZE_MAX / 1024;
}

static void lower(int *number, int bound)
{
    if (bound < *number) *number = bound;
}

// Readers have larger ids, so one walk backwards does it.
static void find_first_passes(const zn_plan *plan, struct zn_cuts *cuts)
{
    const zn_graph *graph = plan->graph;
    int barriers = cuts->passes - 1;
    for (size_t id = 0; id < graph->count; id++) cuts->first[id] = cuts->passes - 1;
    for (size_t id = graph->count; id-- > 0;) {
        const zn_node *node = graph->nodes[id];
        if (zn_node_is_barrier(node)) cuts->first[id] = --barriers;
        for (size_t i = 0; i < graph->pushes_count; i++) { // made before the next barrier
            if (graph->pushes[i].node == node) lower(&cuts->first[id], barriers);
        }
        for (int i = 0; i < node->inputs_count; i++)
            lower(&cuts->first[node->inputs[i]->id], cuts->first[id]);
    }
}

// Is it held whole in any case, once it is there?
static bool stays_whole(const zn_plan *plan, const zn_node *node)
{
    if (node->kind == ZN_NODE_PARAMETER || plan->frame_of[node->id] || !zn_node_is_map(node) ||
        zn_node_is_barrier(node))
        return true;
    for (size_t id = (size_t)node->id + 1; id < plan->graph->count; id++) {
        const zn_node *reader = plan->graph->nodes[id];
        for (int i = 0; zn_node_is_barrier(reader) && i < reader->inputs_count; i++)
            if (reader->inputs[i] == node) return true;
    }
    return false;
}

static bool is_output(const zn_graph *graph, const zn_node *node)
{
    for (size_t i = 0; i < graph->outputs_count; i++)
        if (graph->outputs[i] == node) return true;
    return false;
}

// The last first pass of a reader; -1 where nobody reads it.
static int last_reader(const zn_graph *graph, const int *first, const zn_node *node)
{
    int last = -1;
    for (size_t id = (size_t)node->id + 1; id < graph->count; id++) {
        const zn_node *reader = graph->nodes[id];
        for (int i = 0; i < reader->inputs_count; i++)
            if (reader->inputs[i] == node && first[id] > last) last = first[id];
    }
    return last;
}

// Is it made into a larger map? Then it may pay to hold it instead of that.
static bool grows(const zn_graph *graph, const zn_node *node)
{
    if (node->kind != ZN_NODE_OP) return false;
    for (size_t id = (size_t)node->id + 1; id < graph->count; id++) {
        const zn_node *reader = graph->nodes[id];
        for (int i = 0; zn_node_is_map(reader) && i < reader->inputs_count; i++)
            if (reader->inputs[i] == node && bytes_of(reader) > bytes_of(node)) return true;
    }
    return false;
}

zenith_status zn_cuts_list(zn_plan *plan, zn_error *err)
{
    const zn_graph *graph = plan->graph;
    struct zn_cuts *cuts = zn_arena_alloc(&plan->arena, sizeof *cuts);
    if (!cuts) return zn_fail_memory(err, sizeof *cuts);
    plan->cuts = cuts;
    cuts->passes = 1;
    for (size_t id = 0; id < graph->count; id++)
        cuts->passes += zn_node_is_barrier(graph->nodes[id]);
    cuts->first = zn_arena_alloc(&plan->arena, (graph->count + 1) * sizeof *cuts->first);
    cuts->nodes = zn_arena_alloc(&plan->arena, (graph->count + 1) * sizeof *cuts->nodes);
    if (!cuts->first || !cuts->nodes)
        return zn_fail_memory(err, graph->count * sizeof *cuts->nodes);
    find_first_passes(plan, cuts);
    for (size_t id = 0; cuts->passes > 1 && id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        if (stays_whole(plan, node) || is_output(graph, node))
            continue; // outputs: by the last pass
        if (last_reader(graph, cuts->first, node) > cuts->first[id] || grows(graph, node))
            cuts->nodes[cuts->count++] = node;
    }
    const size_t bytes = (size_t)cuts->passes * (size_t)cuts->count + 1;
    cuts->after = zn_arena_alloc(&plan->arena, bytes);
    return cuts->after ? ZENITH_OK : zn_fail_memory(err, bytes);
}

bool zn_cuts_slide(const zn_node *old, const zn_node *made)
{
    return old->desc.type == made->desc.type && zn_shape_equal(&old->desc.shape, &made->desc.shape);
}

// --- the search ---------------------------------------------------------------------------------

typedef struct state {
    uint64_t whole, spilled; // a bit for each cut
    double cost;             // seconds up to here
    double bound; // cost, and the least that the rest will take beyond computing all once
    size_t bytes; // while the pass before it runs
    int from;     // the state before; -1 in an empty place of the table
} state;

typedef struct search {
    const zn_plan *plan;
    const zn_graph *graph;
    struct zn_cuts *cuts;
    int count;          // cuts looked at
    int *cut_of;        // by node id: 1 + its cut, or 0
    bool *needed;       // by node id, for a walk
    bool *fixed;        // by node id: held whole in any case, once it is there
    size_t bytes[MOST]; // of a whole cut
    size_t limit;
    bool spill;
    state *states; // [passes + 1][BEAM]
    int *counts;   // of states before each pass
    state *table;
    int table_count;
} search;

static bool held(const search *s, const zn_node *node, int pass, uint64_t mask)
{
    if (node->kind == ZN_NODE_PARAMETER || node->kind == ZN_NODE_STATE) return true;
    if (s->fixed[node->id]) return s->cuts->first[node->id] < pass;
    const int cut = s->cut_of[node->id];
    return cut && mask >> (cut - 1) & 1;
}

// Marks what must be computed in `pass`, or (all) in it and in every pass after it, once for all of
// them.
static void mark_needed(const search *s, int pass, bool all, uint64_t mask)
{
    const zn_graph *graph = s->graph;
    for (size_t id = 0; id < graph->count; id++)
        s->needed[id] = s->cuts->first[id] == pass || (all && s->cuts->first[id] > pass);
    for (size_t id = graph->count; id-- > 0;) {
        const zn_node *node = graph->nodes[id];
        for (int i = 0; s->needed[id] && i < node->inputs_count; i++)
            if (!held(s, node->inputs[i], pass, mask)) s->needed[node->inputs[i]->id] = true;
    }
}

typedef struct pass_facts {
    uint64_t made; // cuts that it computes
    double cost;
    size_t bytes; // of windows, and of what is held in any case
} pass_facts;

static int64_t chunk_in(const search *s, const zn_node *node, int64_t times)
{
    return s->plan->options.band * times * (node->desc.shape.dim[1] / s->plan->lowest);
}

static int64_t times_of_pass(const search *s)
{
    int64_t times = 1;
    for (size_t id = 0; s->plan->stretch && id < s->graph->count; id++) {
        const zn_node *node = s->graph->nodes[id];
        if (!s->needed[id] || !zn_node_is_map(node)) continue;
        const int64_t chunk = chunk_in(s, node, 1);
        const int64_t wanted = zn_rows_for_weights(node, s->plan->options.threads);
        if ((wanted + chunk - 1) / chunk > times) times = (wanted + chunk - 1) / chunk;
    }
    return times;
}

static bool reads_spilled(const search *s, int cut)
{
    const zn_node *node = s->cuts->nodes[cut];
    for (size_t id = (size_t)node->id + 1; id < s->graph->count; id++) {
        const zn_node *reader = s->graph->nodes[id];
        for (int i = 0; s->needed[id] && i < reader->inputs_count; i++)
            if (reader->inputs[i] == node) return true;
    }
    return false;
}

static pass_facts look_at_pass(const search *s, int pass, const state *at)
{
    enum { KEPT = 4 }; // rows of a window beyond the chunk, about
    pass_facts facts = {0};
    mark_needed(s, pass, false, at->whole | at->spilled);
    const int64_t times = times_of_pass(s);
    for (size_t id = 0; id < s->graph->count; id++) {
        const zn_node *node = s->graph->nodes[id];
        if (s->fixed[id] && (s->cuts->first[id] == pass || s->cuts->first[id] + 1 == pass) &&
            node->kind != ZN_NODE_PARAMETER && !s->plan->frame_of[id])
            facts.bytes += bytes_of(node);
        if (!s->needed[id] || node->kind == ZN_NODE_PARAMETER) continue;
        const int64_t height = zn_node_is_map(node) ? node->desc.shape.dim[1] : 1;
        const int64_t chunk = zn_node_is_map(node) ? chunk_in(s, node, times) : 1;
        facts.cost += zn_row_seconds(s->plan, node, chunk) * (double)height;
        if (s->cut_of[id]) facts.made |= (uint64_t)1 << (s->cut_of[id] - 1);
        if (!s->fixed[id]) facts.bytes += bytes_of(node) / (size_t)height * (size_t)(chunk + KEPT);
    }
    for (int cut = 0; cut < s->count; cut++) {
        if (!(at->spilled >> cut & 1) || !reads_spilled(s, cut)) continue;
        const zn_node *node = s->cuts->nodes[cut];
        facts.cost += zn_spill_read_seconds(s->bytes[cut]);
        facts.bytes += s->bytes[cut] / (size_t)node->desc.shape.dim[1] *
                       (size_t)(chunk_in(s, node, times) + KEPT);
    }
    return facts;
}

// Work of the passes from `pass` on that was done before them and is not held.
static double repeated(const search *s, int pass, uint64_t mask)
{
    double seconds = 0;
    mark_needed(s, pass, true, mask);
    for (size_t id = 0; id < s->graph->count; id++) {
        const zn_node *node = s->graph->nodes[id];
        if (!s->needed[id] || s->cuts->first[id] >= pass) continue;
        const int64_t height = zn_node_is_map(node) ? node->desc.shape.dim[1] : 1;
        seconds += zn_row_seconds(s->plan, node, INT64_MAX) * (double)height;
    }
    return seconds;
}

static void put(search *s, int pass, state made)
{
    uint64_t key = (made.whole * 0x9e3779b97f4a7c15u) ^ (made.spilled * 0xc2b2ae3d27d4eb4fu);
    for (size_t at = (size_t)(key >> 40);; at++) {
        state *place = &s->table[at % TABLE];
        if (place->from < 0) {
            if (s->table_count >= TABLE / 2) return; // enough to choose from
            made.bound = made.cost + repeated(s, pass + 1, made.whole | made.spilled);
            *place = made;
            s->table_count++;
            return;
        }
        if (place->whole != made.whole || place->spilled != made.spilled) continue;
        if (made.cost < place->cost) {
            made.bound = place->bound - place->cost + made.cost;
            *place = made;
        }
        return;
    }
}

static size_t sum_bytes(const search *s, uint64_t mask)
{
    size_t sum = 0;
    for (int cut = 0; cut < s->count; cut++)
        if (mask >> cut & 1) sum += s->bytes[cut];
    return sum;
}

static int bits_of(uint64_t mask)
{
    int count = 0;
    for (; mask; mask &= mask - 1) count++;
    return count;
}

// Bytes that are saved because values of `made` slide over values of `gone`.
static size_t saved_by_sliding(const search *s, uint64_t made, uint64_t gone)
{
    size_t saved = 0;
    for (int a = 0; a < s->count; a++) {
        if (!(made >> a & 1)) continue;
        for (int b = 0; b < s->count; b++) {
            if (!(gone >> b & 1) || !zn_cuts_slide(s->cuts->nodes[b], s->cuts->nodes[a])) continue;
            saved += s->bytes[a];
            gone &= ~((uint64_t)1 << b);
            break;
        }
    }
    return saved;
}

static void put_part(search *s, int pass, state made, const state *before, uint64_t part)
{
    made.bytes -= saved_by_sliding(s, made.whole, before->whole & ~part);
    if (made.bytes > s->limit) return;
    made.whole |= before->whole & part;
    made.spilled |= before->spilled & part;
    put(s, pass, made);
}

// The states that hold what `made` does and a part of what was held before.
static void put_parts(search *s, int pass, state made, const state *before)
{
    const uint64_t old = before->whole | before->spilled;
    put_part(s, pass, made, before, old);
    if (bits_of(old) <= FEW) {
        for (uint64_t part = old; part != 0;) {
            part = (part - 1) & old;
            put_part(s, pass, made, before, part);
        }
        return;
    }
    for (uint64_t a = old; a; a &= a - 1) { // without one, or two
        const uint64_t one = a & (~a + 1);
        put_part(s, pass, made, before, old & ~one);
        for (uint64_t b = a & (a - 1); b; b &= b - 1)
            put_part(s, pass, made, before, old & ~one & ~(b & (~b + 1)));
    }
}

// One way to keep some of what the pass made: digit i of `way`, to the base of 3, is the zn_keep of
// newest[i].
static void put_way(search *s, int pass, const state *before, int from, const pass_facts *facts,
                    const int *newest, int newest_count, int way)
{
    state made = {.cost = before->cost + facts->cost, .from = from};
    size_t bytes = facts->bytes + sum_bytes(s, before->whole);
    for (int i = 0; i < newest_count; i++, way /= 3) {
        const int cut = newest[i];
        if (way % 3 == ZN_KEEP_WHOLE) {
            made.whole |= (uint64_t)1 << cut;
            bytes += s->bytes[cut];
        } else if (way % 3 == ZN_KEEP_SPILLED) {
            if (!s->spill) return;
            made.spilled |= (uint64_t)1 << cut;
            made.cost += zn_spill_write_seconds(s->bytes[cut]);
        }
    }
    made.bytes = bytes;
    put_parts(s, pass, made, before);
}

static void leave_state(search *s, int pass, const state *before, int from)
{
    const pass_facts facts = look_at_pass(s, pass, before);
    int newest[NEWEST], count = 0, ways = 1;
    for (int cut = s->count; cut-- > 0 && count < NEWEST;) {
        if (facts.made >> cut & 1) newest[count++] = cut, ways *= 3;
    }
    for (int way = 0; way < ways; way++) put_way(s, pass, before, from, &facts, newest, count, way);
}

static bool better(const search *s, const state *a, const state *b)
{
    if (a->bound != b->bound) return a->bound < b->bound;
    return sum_bytes(s, a->whole) < sum_bytes(s, b->whole);
}

// The best of the table are the states before the next pass.
static void take_best(search *s, int pass)
{
    state *next = &s->states[(size_t)(pass + 1) * BEAM];
    int count = 0;
    for (int i = 0; i < TABLE; i++) {
        if (s->table[i].from < 0) continue;
        int at = count < BEAM ? count++ : BEAM;
        for (; at > 0 && better(s, &s->table[i], &next[at - 1]); at--)
            if (at < BEAM) next[at] = next[at - 1];
        if (at < BEAM) next[at] = s->table[i];
    }
    s->counts[pass + 1] = count;
}

static bool walk_passes(search *s)
{
    s->states[0] = (state){.from = -1};
    s->counts[0] = 1;
    for (int pass = 0; pass < s->cuts->passes; pass++) {
        for (int i = 0; i < TABLE; i++) s->table[i].from = -1;
        s->table_count = 0;
        for (int i = 0; i < s->counts[pass]; i++)
            leave_state(s, pass, &s->states[(size_t)pass * BEAM + (size_t)i], i);
        take_best(s, pass);
        if (s->counts[pass + 1] == 0) return false;
    }
    return true;
}

static void write_decisions(const search *s)
{
    int at = 0;
    for (int pass = s->cuts->passes; pass > 0; pass--) {
        const state *after = &s->states[(size_t)pass * BEAM + (size_t)at];
        for (int cut = 0; cut < s->count; cut++) {
            s->cuts->after[(pass - 1) * s->cuts->count + cut] = after->whole >> cut & 1
                                                                    ? ZN_KEEP_WHOLE
                                                                : after->spilled >> cut & 1
                                                                    ? ZN_KEEP_SPILLED
                                                                    : ZN_KEEP_NOT;
        }
        at = after->from;
    }
}

static zenith_status begin_search(search *s, zn_error *err)
{
    const size_t n = s->graph->count + 1, passes = (size_t)s->cuts->passes + 1;
    s->cut_of = zn_alloc_zero(n * sizeof *s->cut_of);
    s->needed = zn_alloc_zero(n * sizeof *s->needed);
    s->fixed = zn_alloc_zero(n * sizeof *s->fixed);
    s->states = zn_alloc_zero(passes * BEAM * sizeof *s->states);
    s->counts = zn_alloc_zero(passes * sizeof *s->counts);
    s->table = zn_alloc_zero(TABLE * sizeof *s->table);
    if (!s->cut_of || !s->needed || !s->fixed || !s->states || !s->counts || !s->table)
        return zn_fail_memory(err, passes * BEAM * sizeof *s->states);
    s->count = s->cuts->count < MOST ? s->cuts->count : MOST;
    for (int cut = 0; cut < s->count; cut++) {
        s->cut_of[s->cuts->nodes[cut]->id] = cut + 1;
        s->bytes[cut] = bytes_of(s->cuts->nodes[cut]);
    }
    for (size_t id = 0; id < s->graph->count; id++)
        s->fixed[id] = stays_whole(s->plan, s->graph->nodes[id]);
    return ZENITH_OK;
}

static zenith_status search_cheapest(zn_plan *plan, size_t limit, bool *found, zn_error *err)
{
    search s = {.plan = plan,
                .graph = plan->graph,
                .cuts = plan->cuts,
                .limit = limit,
                .spill = plan->options.spill};
    zenith_status status = begin_search(&s, err);
    if (status == ZENITH_OK) {
        *found = walk_passes(&s);
        if (*found) write_decisions(&s);
    }
    zn_free(s.cut_of);
    zn_free(s.needed);
    zn_free(s.fixed);
    zn_free(s.states);
    zn_free(s.counts);
    zn_free(s.table);
    return status;
}

zenith_status zn_cuts_decide(zn_plan *plan, zn_keep keep, size_t limit, bool *found, zn_error *err)
{
    const struct zn_cuts *cuts = plan->cuts;
    *found = true;
    if (keep == ZN_KEEP_CHEAPEST) return search_cheapest(plan, limit, found, err);
    for (int cut = 0; cut < cuts->count; cut++) {
        const int first = cuts->first[cuts->nodes[cut]->id];
        const int last = last_reader(plan->graph, cuts->first, cuts->nodes[cut]);
        for (int pass = 0; pass < cuts->passes; pass++)
            cuts->after[pass * cuts->count + cut] = (uint8_t)(pass >= first && pass < last
                                                                  ? keep
                                                                  : ZN_KEEP_NOT);
    }
    return ZENITH_OK;
}
