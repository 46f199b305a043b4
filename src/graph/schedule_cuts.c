// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What was decided of cuts (cuts.h), as a rolling schedule has it: which values a pass leaves whole
// or in the spill file, and which slide over others.
#include "src/graph/schedule_parts.h"

static zn_keep kept_after(const zn_rolling *r, int cut)
{
    const struct zn_cuts *cuts = r->plan->cuts;
    return (zn_keep)cuts->after[r->pass * cuts->count + cut];
}

bool zn_rolling_is_cut(const zn_rolling *r, const zn_node *node)
{
    const struct zn_cuts *cuts = r->plan->cuts;
    return zn_node_index((zn_node *const *)cuts->nodes, (size_t)cuts->count, node) >= 0;
}

// The lowest row of `node` that is read in a round or later ones; INT64_MAX: none is.
static int64_t lowest_read(const zn_rolling *r, const zn_node *node, int64_t round)
{
    int64_t lowest = INT64_MAX;
    for (size_t id = (size_t)node->id + 1; id < r->plan->graph->count; id++) {
        const zn_node *reader = r->plan->graph->nodes[id];
        if (!r->needed[id] || r->spilled[id] || zn_node_is_barrier(reader)) continue;
        const int64_t chunk = zn_rolling_chunk(r, reader), begin = round * chunk - r->skew[id];
        for (int i = 0; begin < zn_node_height(reader) && i < reader->inputs_count; i++) {
            if (reader->inputs[i] != node) continue;
            const zn_rows rows = zn_node_rows(reader, i, (zn_rows){begin, begin + chunk});
            if (rows.begin < lowest) lowest = rows.begin;
        }
    }
    return lowest;
}

// How far row 0 of what `work` makes must lie before row 0 of `under`, in rows of both, so that in
// no round it is written over what that round still reads.
static int64_t rows_between(const zn_rolling *r, const zn_work *work, const zn_node *under)
{
    int64_t gap = 0;
    for (int64_t round = 0; round * work->chunk - work->skew < work->height; round++) {
        const int64_t lowest = lowest_read(r, under, round);
        const int64_t written = (round + 1) * work->chunk - work->skew;
        if (lowest == INT64_MAX) break;
        if ((written > 0 ? written : 0) - lowest > gap) gap = (written > 0 ? written : 0) - lowest;
    }
    return gap;
}

void zn_rolling_slide_over(const zn_rolling *r, const zn_work *work)
{
    zn_plan *plan = r->plan;
    zn_buffer *made = &plan->buffers[work->buffer];
    for (int cut = 0; cut < plan->cuts->count; cut++) {
        const zn_node *node = plan->cuts->nodes[cut];
        const int index = plan->current[node->id];
        if (index < 0 || index == work->buffer || kept_after(r, cut) != ZN_KEEP_NOT ||
            !zn_cuts_slide(node, work->node))
            continue;
        zn_buffer *old = &plan->buffers[index];
        if (old->window || old->frame || old->under || old->born == plan->ticks) continue;
        made->over = index + 1;
        old->under = work->buffer + 1;
        made->gap = rows_between(r, work, node) * (int64_t)made->row_bytes;
        if (old->dies < plan->ticks)
            old->dies = plan->ticks; // else there would be nothing to slide over
        return;
    }
}

zenith_status zn_rolling_link_spill(zn_rolling *r, zn_work *work, zn_error *err)
{
    zn_plan *plan = r->plan;
    const int id = work->node->id;
    work->loads = r->spilled[id];
    if (work->loads) plan->spills[work->loads - 1].dies = plan->ticks;
    if (work->loads || !r->spill[id]) return ZENITH_OK;
    ZN_TRY(zn_array_reserve((void **)&plan->spills, &plan->spills_capacity, plan->spills_count + 1,
                            sizeof *plan->spills, err));
    zn_buffer *made = &plan->spills[plan->spills_count];
    *made = (zn_buffer){
        .node = work->node, .rows = work->height, .born = plan->ticks, .dies = plan->ticks};
    ZN_TRY(zn_buffer_measure(made, err));
    work->spills = (int)++plan->spills_count;
    return ZENITH_OK;
}

void zn_rolling_mark_cuts(zn_rolling *r)
{
    for (int cut = 0; cut < r->plan->cuts->count; cut++) {
        const int id = r->plan->cuts->nodes[cut]->id;
        r->stored[id] = kept_after(r, cut) == ZN_KEEP_WHOLE;
        r->spill[id] = kept_after(r, cut) == ZN_KEEP_SPILLED;
    }
}

// After the pass: what it wrote to the spill file is there, and what is not kept is forgotten.
void zn_rolling_settle_cuts(zn_rolling *r)
{
    zn_plan *plan = r->plan;
    for (int cut = 0; cut < plan->cuts->count; cut++) {
        const int id = plan->cuts->nodes[cut]->id;
        if (kept_after(r, cut) != ZN_KEEP_WHOLE) plan->current[id] = -1;
        if (kept_after(r, cut) != ZN_KEEP_SPILLED) r->spilled[id] = 0;
    }
    const int first = plan->passes[plan->passes_count - 1].first_work;
    for (size_t i = (size_t)first; i < plan->works_count; i++)
        if (plan->works[i].spills) r->spilled[plan->works[i].node->id] = plan->works[i].spills;
    r->pass++;
}
