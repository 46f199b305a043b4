// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Rolling. Value v has chunk c(v): the band times its height over the lowest map's. It lags by the
// skew s(v): in round k it has rows up to (k+1)*c - s. A node's skew follows from its inputs' by
// its operator's row rule; so does how many rows behind its newest chunk a window must keep. Both
// are the same for every round, so they are read off one round far from the edges.
#include "src/graph/schedule_parts.h"

#include <string.h>

// A round so late that no row of it is negative.
enum { FAR = 1 << 16 };

int64_t zn_rolling_chunk(const zn_rolling *r, const zn_node *node)
{
    return r->plan->options.band * r->times * (zn_node_height(node) / r->plan->lowest);
}

// Rounds of a pass are as long as its heaviest weights want.
static void stretch_rounds(zn_rolling *r)
{
    const zn_plan *plan = r->plan;
    int64_t times = 1;
    for (size_t id = 0; plan->stretch && id < plan->graph->count; id++) {
        const zn_node *node = plan->graph->nodes[id];
        if (!r->needed[id] || !zn_node_is_map(node)) continue;
        const int64_t chunk = plan->options.band * (zn_node_height(node) / plan->lowest);
        const int64_t wanted = zn_rows_for_weights(node, plan->options.threads);
        if ((wanted + chunk - 1) / chunk > times) times = (wanted + chunk - 1) / chunk;
    }
    r->times = times;
}

// A value held whole has room for a chunk of each pass that reads it.
static zenith_status make_room(const zn_rolling *r, const zn_work *work, zn_error *err)
{
    for (int i = 0; i < work->node->inputs_count; i++) {
        const zn_node *input = work->node->inputs[i];
        if (work->inputs[i] < 0 || !zn_node_is_map(input)) continue;
        zn_buffer *buffer = &r->plan->buffers[work->inputs[i]];
        if (buffer->window) continue;
        const int64_t margin = 2 * zn_rolling_chunk(r, input) + 2;
        zn_buffer_widen(buffer, (zn_rows){-margin, zn_node_height(input) + margin});
        ZN_TRY(zn_buffer_measure(buffer, err));
    }
    return ZENITH_OK;
}

// Marks a node to be computed in this pass, unless it is held whole already.
static void need(zn_rolling *r, const zn_node *node)
{
    if (zn_node_in_memory(node) && r->plan->current[node->id] < 0) r->needed[node->id] = true;
}

// Marks everything that the marked nodes need; inputs have smaller ids, so one walk does it.
static void need_inputs(zn_rolling *r)
{
    for (size_t id = r->plan->graph->count; id-- > 0;) {
        const zn_node *node = r->plan->graph->nodes[id];
        if (r->spilled[id]) continue; // it is read
        for (int i = 0; r->needed[id] && i < node->inputs_count; i++) need(r, node->inputs[i]);
    }
}

// The smallest lag at which every row the node asks for in a round is there.
static int64_t find_skew(const zn_rolling *r, const zn_node *node)
{
    int64_t chunk = zn_rolling_chunk(r, node), skew = 0;
    for (int i = 0; !r->spilled[node->id] && i < node->inputs_count; i++) {
        const zn_node *input = node->inputs[i];
        if (!zn_node_is_map(input)) continue;
        int64_t there = (FAR + 1) * zn_rolling_chunk(r, input) - r->skew[input->id];
        for (;; skew++) {
            int64_t end = (FAR + 1) * chunk - skew;
            if (zn_node_rows(node, i, (zn_rows){end - 1, end}).end <= there) break;
        }
    }
    return skew;
}

// Rows below the newest chunk of `node` that a reader in this pass still asks for in its round: a
// reader of the node, or, with a state, of its frames, which have the node's shape.
static int64_t find_keep(const zn_rolling *r, const zn_node *node, const char *state)
{
    int64_t newest = FAR * zn_rolling_chunk(r, node) - r->skew[node->id], keep = 0;
    for (size_t id = 0; id < r->plan->graph->count; id++) {
        const zn_node *reader = r->plan->graph->nodes[id];
        if (!r->needed[id] || r->spilled[id] || zn_node_is_barrier(reader)) continue;
        for (int i = 0; i < reader->inputs_count; i++) {
            const zn_node *input = reader->inputs[i];
            if (state ? !zn_frame_is_of(input, state) : input != node) continue;
            int64_t begin = FAR * zn_rolling_chunk(r, reader) - r->skew[id];
            zn_rows rows = zn_node_rows(reader, i,
                                        (zn_rows){begin, begin + zn_rolling_chunk(r, reader)});
            if (newest - rows.begin > keep) keep = newest - rows.begin;
        }
    }
    return keep;
}

// A value that is held whole has room for a full chunk, and for a reader's halo, on either side.
static zn_buffer whole_buffer(const zn_rolling *r, const zn_node *node)
{
    int64_t margin = zn_node_is_map(node) ? 2 * zn_rolling_chunk(r, node) + 2 : 0;
    zn_buffer made = {.node = node,
                      .first_row = -margin,
                      .rows = zn_node_height(node) + 2 * margin,
                      .born = r->plan->ticks,
                      .dies = r->plan->ticks};
    for (size_t id = (size_t)node->id + 1; id < r->plan->graph->count; id++) {
        const zn_node *reader = r->plan->graph->nodes[id];
        if (zn_node_is_barrier(reader)) zn_buffer_widen_for(&made, reader, zn_node_height(reader));
    }
    return made;
}

// The window of a late frame has the rows that are still to be copied.
static void begin_late_frame(const zn_rolling *r, zn_frame *frame, zn_buffer *window)
{
    frame->made = true;
    frame->pass = (int)r->plan->passes_count - 1;
    frame->lag = find_keep(r, frame->node, frame->state);
    if (window->keep < frame->lag) window->keep = frame->lag;
}

// Makes a buffer the window of what a work makes.
static void set_window(const zn_rolling *r, const zn_work *work, zn_buffer *made)
{
    zn_frame *late = zn_frame_late(r->plan, work->node);
    made->window = true;
    made->chunk = work->chunk;
    made->skew = work->skew;
    made->keep = find_keep(r, work->node, NULL);
    if (late) begin_late_frame(r, late, made);
    made->rows = made->chunk + made->keep;
}

static zenith_status rolling_work(zn_rolling *r, const zn_node *node, zn_error *err)
{
    zn_plan *plan = r->plan;
    zn_work work = zn_work_begin(plan, node);
    zn_buffer made = whole_buffer(r, node);
    if (zn_node_is_map(node)) {
        work.chunk = zn_rolling_chunk(r, node);
        work.skew = r->skew[node->id];
        int64_t limit = zn_work_short_call(plan, &work, work.chunk);
        work.call_rows = zn_largest_divisor(work.chunk, limit);
        if (!r->stored[node->id]) set_window(r, &work, &made);
    } else {
        work.chunk = work.call_rows = 1;
    }
    int *buffer = &plan->current[node->id]; // that of a state is there
    if (*buffer < 0) ZN_TRY(zn_buffer_add(plan, &made, buffer, err));
    work.buffer = *buffer;
    if (r->stored[node->id] && zn_node_is_map(node) && zn_rolling_is_cut(r, node))
        zn_rolling_slide_over(r, &work);
    ZN_TRY(zn_rolling_link_spill(r, &work, err));
    zn_work_link_inputs(plan, &work, plan->ticks);
    ZN_TRY(make_room(r, &work, err));
    zn_work_count(plan, &work);
    zn_pass *pass = &plan->passes[plan->passes_count - 1];
    int64_t rounds = (work.height + work.skew + work.chunk - 1) / work.chunk;
    if (rounds > pass->rounds) pass->rounds = rounds;
    pass->works_count++;
    return zn_work_add(plan, &work, err);
}

static void forget_windows(zn_rolling *r)
{
    for (size_t id = 0; id < r->plan->graph->count; id++) {
        int current = r->plan->current[id];
        if (current >= 0 && r->plan->buffers[current].window) r->plan->current[id] = -1;
    }
}

static zenith_status rolling_pass(zn_rolling *r, zn_error *err)
{
    zn_plan *plan = r->plan;
    ZN_TRY(zn_schedule_add_pass(plan, true, err));
    need_inputs(r);
    stretch_rounds(r);
    bool reads_input = false;
    for (size_t id = 0; id < plan->graph->count; id++) {
        const zn_node *node = plan->graph->nodes[id];
        if (zn_node_is_map(node)) r->skew[id] = r->needed[id] ? find_skew(r, node) : 0;
        reads_input |= r->needed[id] && node->kind == ZN_NODE_INPUT;
    }
    for (size_t id = 0; id < plan->graph->count; id++) {
        if (r->needed[id]) ZN_TRY(rolling_work(r, plan->graph->nodes[id], err));
    }
    zn_schedule_steps(plan, plan->passes[plan->passes_count - 1].first_work);
    plan->rewinds |= reads_input && plan->passes_count > 1;
    plan->ticks++;
    forget_windows(r);
    memset(r->needed, 0, plan->graph->count * sizeof *r->needed);
    return ZENITH_OK;
}

static zenith_status barrier_pass(zn_rolling *r, const zn_node *node, zn_error *err)
{
    zn_plan *plan = r->plan;
    ZN_TRY(zn_schedule_add_pass(plan, false, err));
    zn_work work = zn_work_begin(plan, node);
    work.chunk = work.call_rows = work.height;
    zn_buffer made = whole_buffer(r, node);
    ZN_TRY(zn_work_give_buffer(plan, &work, &made, err));
    zn_work_link_inputs(plan, &work, plan->ticks);
    zn_work_count(plan, &work);
    plan->passes[plan->passes_count - 1].works_count = 1;
    plan->ticks++;
    return zn_work_add(plan, &work, err);
}

// Frames are made by the first pass that can: what they are made from is at hand there, and they
// are held whole for all passes after it.
static void need_pushes(zn_rolling *r, int before)
{
    const zn_graph *graph = r->plan->graph;
    for (size_t i = 0; i < graph->pushes_count; i++) {
        const zn_node *node = graph->pushes[i].node;
        const zn_frame *late = zn_frame_late(r->plan, node);
        if (node->id < before && !(late && late->made)) need(r, node);
    }
}

// Frames of earlier runs are there from the start; those to come are held whole.
static zenith_status hold_frames(zn_rolling *r, zn_error *err)
{
    zn_plan *plan = r->plan;
    for (size_t i = 0; i < plan->frames_count; i++) {
        const zn_node *node = plan->frames[i].node;
        r->stored[node->id] = zn_frame_is_held(plan, node);
        if (node->kind != ZN_NODE_STATE) continue;
        zn_buffer made = whole_buffer(r, node);
        ZN_TRY(zn_buffer_add(plan, &made, &plan->current[node->id], err));
    }
    return ZENITH_OK;
}

static zenith_status before_barrier(zn_rolling *r, const zn_node *barrier, zn_error *err)
{
    zn_rolling_mark_cuts(r);
    for (int i = 0; i < barrier->inputs_count; i++) {
        r->stored[barrier->inputs[i]->id] = true;
        need(r, barrier->inputs[i]);
    }
    need_pushes(r, barrier->id);
    ZN_TRY(rolling_pass(r, err));
    zn_rolling_settle_cuts(r);
    return barrier_pass(r, barrier, err);
}

static zenith_status schedule_rolling(zn_rolling *r, zn_error *err)
{
    const zn_graph *graph = r->plan->graph;
    ZN_TRY(hold_frames(r, err));
    for (size_t id = 0; id < graph->count; id++) {
        if (zn_node_is_barrier(graph->nodes[id])) ZN_TRY(before_barrier(r, graph->nodes[id], err));
    }
    for (size_t i = 0; i < graph->outputs_count; i++) {
        need(r, graph->outputs[i]);
        if (graph->outputs[i]->kind == ZN_NODE_STATE) r->needed[graph->outputs[i]->id] = true;
    }
    need_pushes(r, (int)graph->count);
    zn_rolling_mark_cuts(r);
    return rolling_pass(r, err);
}

zenith_status zn_schedule_rolling(zn_plan *plan, bool *found, zn_error *err)
{
    const size_t n = plan->graph->count;
    zn_rolling r = {.plan = plan,
                    .times = 1,
                    .needed = zn_arena_alloc(&plan->arena, n * sizeof *r.needed),
                    .stored = zn_arena_alloc(&plan->arena, n * sizeof *r.stored),
                    .spilled = zn_arena_alloc(&plan->arena, n * sizeof *r.spilled),
                    .spill = zn_arena_alloc(&plan->arena, n * sizeof *r.spill),
                    .skew = zn_arena_alloc(&plan->arena, n * sizeof *r.skew)};
    if (!r.needed || !r.stored || !r.spilled || !r.spill || !r.skew)
        return zn_fail_memory(err, n * sizeof *r.skew);
    ZN_TRY(zn_cuts_list(plan, err));
    ZN_TRY(zn_cuts_decide(plan, plan->keep, plan->limit, found, err));
    return *found ? schedule_rolling(&r, err) : ZENITH_OK;
}
