// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Scheduling: which node computes which rows when, and how many rows of each value must be held.
// plan.h has the picture. Here are planes, where each value is whole, and the choice;
// schedule_rolling.c has the arithmetic of bands.
#include "src/graph/schedule_parts.h"

static int64_t padded_rows(const zn_plan *plan, const zn_node *node, int64_t *call_rows)
{
    zn_work work = zn_work_begin(plan, node);
    if (node->kind != ZN_NODE_OP || !zn_node_is_map(node) || zn_node_is_barrier(node)) {
        *call_rows = work.height;
        return work.height;
    }
    // Calls of about one size: rows are computed beyond the last to make the last call full.
    const int64_t most = zn_work_short_call(plan, &work, work.height);
    const int64_t calls = (work.height + most - 1) / most;
    *call_rows = (work.height + calls - 1) / calls;
    return *call_rows * calls;
}

static bool takes(const zn_node *reader, const zn_node *node)
{
    for (int i = 0; i < reader->inputs_count; i++) {
        if (reader->inputs[i] == node) return true;
    }
    return false;
}

// One tick per node: a value dies at its last reader's tick.
static zenith_status sequential_work(zn_plan *plan, const zn_node *node, zn_error *err)
{
    zn_work work = zn_work_begin(plan, node);
    const int tick = plan->ticks;
    int64_t padded = padded_rows(plan, node, &work.call_rows);
    work.chunk = work.call_rows;
    zn_buffer made = {.node = node, .rows = padded, .born = tick, .dies = tick};
    for (size_t id = (size_t)node->id + 1; id < plan->graph->count; id++) {
        int64_t calls;
        const zn_node *reader = plan->graph->nodes[id];
        if (!takes(reader, node)) continue;
        zn_buffer_widen_for(&made, reader, padded_rows(plan, reader, &calls));
    }
    ZN_TRY(zn_work_give_buffer(plan, &work, &made, err));
    // A frame of an earlier run is there; it is work to show it to the world only.
    if (node->kind == ZN_NODE_STATE && work.output_index < 0) return ZENITH_OK;
    plan->ticks++;
    zn_work_link_inputs(plan, &work, tick);
    zn_work_count(plan, &work);
    return zn_work_add(plan, &work, err);
}

static void keep_alive(zn_plan *plan)
{
    for (size_t id = 0; plan->options.keep_everything && id < plan->graph->count; id++) {
        if (plan->current[id] >= 0) plan->buffers[plan->current[id]].dies = plan->ticks;
    }
}

static zenith_status schedule_planes(zn_plan *plan, zn_error *err)
{
    ZN_TRY(zn_schedule_add_pass(plan, false, err));
    for (size_t id = 0; id < plan->graph->count; id++) {
        if (zn_node_in_memory(plan->graph->nodes[id])) {
            ZN_TRY(sequential_work(plan, plan->graph->nodes[id], err));
        }
    }
    plan->passes[0].works_count = (int)plan->works_count;
    zn_frames_time_late(plan);
    return ZENITH_OK;
}

// As if nothing had been scheduled yet.
static void clear_schedule(zn_plan *plan)
{
    plan->passes_count = plan->works_count = plan->buffers_count = plan->spills_count = 0;
    plan->ticks = 0;
    plan->flops = 0;
    plan->rewinds = false;
    for (size_t id = 0; id < plan->graph->count; id++) plan->current[id] = -1;
    for (size_t i = 0; i < plan->frames_count; i++) plan->frames[i].made = false;
}

// Again where states that were hoped to have late frames cannot have them.
static zenith_status schedule_bands(zn_plan *plan, bool *found, zn_error *err)
{
    do {
        clear_schedule(plan);
        ZN_TRY(zn_schedule_rolling(plan, found, err));
    } while (*found && zn_frames_drop_late(plan));
    return ZENITH_OK;
}

zenith_status zn_plan_schedule(zn_plan *plan, bool *found, zn_error *err)
{
    size_t n = plan->graph->count;
    *found = true;
    plan->current = zn_arena_alloc(&plan->arena, n * sizeof *plan->current);
    plan->uses = zn_graph_count_uses(plan->graph, &plan->arena);
    if (!plan->current || !plan->uses) return zn_fail_memory(err, n * sizeof *plan->current);
    for (size_t id = 0; id < n; id++) plan->current[id] = -1;
    ZN_TRY(zn_frames_list(plan, err));
    if (plan->options.late_frames) zn_frames_hope_late(plan);
    if (plan->options.mode == ZN_PLAN_PLANES)
        ZN_TRY(schedule_planes(plan, err));
    else
        ZN_TRY(schedule_bands(plan, found, err));
    keep_alive(plan);
    return ZENITH_OK;
}
