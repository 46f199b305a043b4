// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps of a rolling pass, when its works are known: which of them take turns, how many rows a turn
// has, and which windows are rings for that.
#include "src/graph/schedule_parts.h"

// Does a lowering compute its rows?
static bool computes(const zn_work *work)
{
    return work->node->op && !work->loads;
}

// Works of one resolution take the same steps, short enough for the slowest of them and for the
// cache: the runner then goes through them together, step by step. Two rows are better than one:
// kernels share what they load among them.
static void align_calls(zn_plan *plan, int first)
{
    enum { CACHED = 64 << 10, PAIR = 2 }; // bytes of one map's rows in a step, per thread
    for (size_t i = (size_t)first; i < plan->works_count; i++) {
        int64_t chunk = plan->works[i].chunk, rows = chunk, least = 1;
        if (zn_node_stops_itself(plan->works[i].node)) continue; // its weights are read once a call
        for (size_t j = (size_t)first; j < plan->works_count; j++) {
            const zn_work *other = &plan->works[j];
            if (other->chunk != chunk || !computes(other) || zn_node_stops_itself(other->node))
                continue;
            size_t row_bytes = plan->buffers[other->buffer].row_bytes;
            int64_t cached = (int64_t)((size_t)CACHED / row_bytes);
            cached = (cached < PAIR ? PAIR : cached) * plan->options.threads;
            if (cached < rows) rows = cached;
            if (other->call_rows < rows) rows = other->call_rows;
            const int64_t wanted = zn_rows_for_weights(other->node, plan->options.threads);
            if (wanted > least) least = wanted;
        }
        if (rows < least) rows = least < chunk ? least : chunk;
        plan->works[i].call_rows = zn_largest_divisor(chunk, rows);
    }
}

// Neighbours that take the same steps are a group.
static void number_groups(zn_plan *plan, int first)
{
    for (size_t i = (size_t)first; i < plan->works_count; i++) {
        zn_work *work = &plan->works[i];
        const zn_work *before = (int)i > first ? work - 1 : NULL;
        bool joins = before && computes(before) && computes(work) && before->chunk == work->chunk &&
                     before->call_rows == work->call_rows;
        work->group = joins ? before->group : (int)i;
    }
}

static bool rings(const zn_plan *plan, const zn_work *work)
{
    const zn_op *op = work->node->op;
    if (!computes(work) || !op->rings) return false;
    const zn_lowering_request request = zn_plan_request(plan, work);
    return op->rings(&request);
}

static bool reads(const zn_work *work, int buffer)
{
    for (int i = 0; i < work->node->inputs_count; i++) {
        if (work->inputs[i] == buffer) return true;
    }
    return false;
}

// A window between operators that take rings becomes one. Read in its own group alone it holds the
// rows of a step, not of a round.
static void make_rings(zn_plan *plan, int first)
{
    for (size_t i = (size_t)first; i < plan->works_count; i++) {
        const zn_work *work = &plan->works[i];
        zn_buffer *buffer = &plan->buffers[work->buffer];
        bool ring = buffer->window && !buffer->late && work->output_index < 0 && rings(plan, work);
        bool inside = true;
        for (size_t j = i + 1; ring && j < plan->works_count; j++) {
            if (!reads(&plan->works[j], work->buffer)) continue;
            ring = rings(plan, &plan->works[j]);
            inside &= plan->works[j].group == work->group;
        }
        if (!ring) continue;
        buffer->ring = true;
        buffer->rows = buffer->keep + (inside ? work->call_rows : buffer->chunk);
        buffer->bytes = buffer->row_bytes * (size_t)buffer->rows;
    }
}

void zn_schedule_steps(zn_plan *plan, int first)
{
    align_calls(plan, first);
    number_groups(plan, first);
    make_rings(plan, first);
}
