// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Scheduling: which node computes which rows when, and how many rows of each value must be held.
// plan.h has the picture; this file has the arithmetic.
//
// Rolling. Value v has chunk c(v): the band times its height over the lowest map's. It lags by the
// skew s(v): in round k it has rows up to (k+1)*c - s. A node's skew follows from its inputs' by
// its operator's row rule; so does how many rows behind its newest chunk a window must keep. Both
// are the same for every round, so they are read off one round far from the edges.
#include "src/graph/cuts.h"

#include <string.h>

// A round so late that no row of it is negative.
enum { FAR = 1 << 16 };

// About how long one call may take before the run looks at the cancel flag again, and the speed we
// assume to keep to that: careful figures, a factor of two below what the kernels reach.
static const double call_seconds = 0.005;

double zn_plan_assumed_speed(const zn_plan *plan, const zn_node *node)
{
    static const double f32[] = {5e9, 30e9, 60e9, 60e9};
    const zn_plan_options *options = &plan->options;
    double speed = f32[options->cpu.isa];
    if (!options->dnn) speed /= 4;
    zn_type type = node->inputs_count > 0 ? node->inputs[0]->desc.type : ZN_F32;
    if (options->dnn && options->cpu.isa == ZN_ISA_AMX && type != ZN_F32) speed *= 8;
    return speed * options->threads;
}

static int64_t height_of(const zn_node *node)
{
    return zn_node_is_map(node) ? node->desc.shape.dim[1] : 1;
}

int64_t zn_rows_for_weights(const zn_node *node, int threads)
{
    enum { HEAVY = 512 << 10, PIXELS = 512, FEWEST = 4 }; // bytes; of a call, per thread
    if (node->kind != ZN_NODE_OP || !(node->op->traits & ZN_OP_MATMUL) || !zn_node_is_map(node))
        return 1;
    size_t weights = 0, bytes = 0;
    for (int i = 0; i < node->inputs_count; i++) {
        const zn_node *input = node->inputs[i];
        if (input->kind == ZN_NODE_PARAMETER && zn_desc_bytes(&input->desc, &bytes) &&
            bytes > weights)
            weights = bytes;
    }
    if (weights < HEAVY) return 1;
    const int64_t width = node->desc.shape.dim[2], rows = (PIXELS + width - 1) / width;
    const int64_t wanted = (rows < FEWEST ? FEWEST : rows) * threads;
    return wanted < height_of(node) ? wanted : height_of(node);
}

static zenith_status row_bytes_of(const zn_node *node, size_t *out, zn_error *err)
{
    zn_desc desc = node->desc;
    if (zn_node_is_map(node)) desc.shape.dim[1] = 1;
    if (zn_desc_bytes(&desc, out)) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "'%s' is too large for this machine's memory", node->name);
}

static int index_in(zn_node *const *list, size_t count, const zn_node *node)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == node) return (int)i;
    }
    return -1;
}

// How many nodes of its kind come before.
static int number_of(const zn_graph *graph, const zn_node *node)
{
    int number = 0;
    for (int id = 0; id < node->id; id++) number += graph->nodes[id]->kind == node->kind;
    return number;
}

// The frame that a node makes late; NULL: none.
static zn_frame *late_frame(const zn_plan *plan, const zn_node *node)
{
    const int number = plan->frame_of[node->id];
    if (number == 0 || node->kind == ZN_NODE_STATE) return NULL;
    return plan->frames[number - 1].late ? &plan->frames[number - 1] : NULL;
}

// Whether a value lies in the states, all of it, from when it is made.
static bool is_held_frame(const zn_plan *plan, const zn_node *node)
{
    return plan->frame_of[node->id] && !late_frame(plan, node);
}

// Parameters are read where they lie; everything else needs a buffer.
static bool in_memory(const zn_node *node)
{
    return node->kind != ZN_NODE_PARAMETER;
}

static zenith_status measure_buffer(zn_buffer *buffer, zn_error *err)
{
    ZN_TRY(row_bytes_of(buffer->node, &buffer->row_bytes, err));
    if (zn_mul_size(buffer->row_bytes, (size_t)buffer->rows, &buffer->bytes)) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "'%s' is too large for this machine's memory",
                   buffer->node->name);
}

static zenith_status add_buffer(zn_plan *plan, const zn_buffer *made, int *index, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&plan->buffers, &plan->buffers_capacity,
                            plan->buffers_count + 1, sizeof *plan->buffers, err));
    zn_buffer *buffer = &plan->buffers[plan->buffers_count];
    *buffer = *made;
    const int frame = plan->frame_of[made->node->id];
    buffer->late = late_frame(plan, made->node) != NULL;
    buffer->frame = buffer->late ? 0 : frame;
    ZN_TRY(measure_buffer(buffer, err));
    *index = (int)plan->buffers_count++;
    if (frame) plan->frames[frame - 1].buffer = *index;
    return ZENITH_OK;
}

static zenith_status add_work(zn_plan *plan, const zn_work *made, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&plan->works, &plan->works_capacity, plan->works_count + 1,
                            sizeof *plan->works, err));
    plan->works[plan->works_count++] = *made;
    return ZENITH_OK;
}

static zenith_status add_pass(zn_plan *plan, bool rolling, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&plan->passes, &plan->passes_capacity, plan->passes_count + 1,
                            sizeof *plan->passes, err));
    plan->passes[plan->passes_count++] = (zn_pass){
        .rolling = rolling, .tick = plan->ticks, .first_work = (int)plan->works_count};
    return ZENITH_OK;
}

static zn_work begin_work(const zn_plan *plan, const zn_node *node)
{
    zn_work work = {.node = node, .height = height_of(node)};
    work.output_index = index_in(plan->graph->outputs, plan->graph->outputs_count, node);
    if (node->kind != ZN_NODE_OP) work.leaf_index = number_of(plan->graph, node);
    work.flops_per_row = zn_node_flops(node) / (double)(work.height > 0 ? work.height : 1);
    return work;
}

// An operator that looks at the cancel flag itself may take its time.
static bool stops_itself(const zn_node *node)
{
    return node->kind == ZN_NODE_OP && (node->op->traits & ZN_OP_STOPS);
}

// Rows per call so that a call stays short, if its weights allow: at most `limit`, at least 1.
static int64_t short_call(const zn_plan *plan, const zn_work *work, int64_t limit)
{
    if (work->flops_per_row <= 0 || stops_itself(work->node)) return limit;
    double rows = call_seconds * zn_plan_assumed_speed(plan, work->node) / work->flops_per_row;
    const int64_t least = zn_rows_for_weights(work->node, plan->options.threads);
    if (rows < (double)least) rows = (double)least;
    return rows >= (double)limit ? limit : (int64_t)rows;
}

static int64_t largest_divisor(int64_t number, int64_t limit)
{
    while (number % limit != 0) limit--;
    return limit;
}

static void count_work(zn_plan *plan, const zn_work *work)
{
    const double rows = (double)work->height;
    const int64_t together = work->chunk > work->call_rows ? work->chunk : work->call_rows;
    const size_t bytes = plan->buffers[work->buffer].row_bytes * (size_t)work->height;
    if (work->loads) {
        plan->seconds += zn_spill_read_seconds(bytes);
        return;
    }
    plan->flops += work->flops_per_row * rows;
    plan->seconds += zn_row_seconds(plan, work->node, together) * rows;
    if (work->spills) plan->seconds += zn_spill_write_seconds(bytes);
}

// Links a work to the buffers of its inputs, which live at least until `tick`.
static void link_inputs(zn_plan *plan, zn_work *work, int tick)
{
    for (int i = 0; i < ZN_MAX_INPUTS; i++) work->inputs[i] = -1;
    for (int i = 0; !work->loads && i < work->node->inputs_count; i++) {
        const zn_node *input = work->node->inputs[i];
        if (!in_memory(input)) continue;
        work->inputs[i] = plan->current[input->id];
        zn_buffer *buffer = &plan->buffers[work->inputs[i]];
        if (buffer->dies < tick) buffer->dies = tick;
    }
}

// Enlarges the row range of a whole buffer.
static void widen(zn_buffer *buffer, zn_rows need)
{
    int64_t end = buffer->first_row + buffer->rows;
    if (need.begin < buffer->first_row) buffer->first_row = need.begin;
    if (need.end > end) end = need.end;
    buffer->rows = end - buffer->first_row;
}

static bool runs_in_place(const zn_plan *plan, const zn_node *node)
{
    if (!zn_node_is_barrier(node) || !node->op->in_place || plan->options.keep_everything)
        return false;
    if (plan->frame_of[node->id]) return false; // it has a place of its own
    const zn_node *x = node->inputs[0];
    return (x->kind == ZN_NODE_OP || x->kind == ZN_NODE_INPUT) && x->desc.type == node->desc.type &&
           zn_shape_equal(&x->desc.shape, &node->desc.shape) && plan->uses[x->id] == 1 &&
           node->op->in_place(node);
}

// The buffer of a sequential work: that of input 0, with room for the result's readers, or a new one.
static zenith_status give_buffer(zn_plan *plan, zn_work *work, const zn_buffer *made, zn_error *err)
{
    const zn_node *node = work->node;
    work->in_place = runs_in_place(plan, node);
    if (!work->in_place) {
        ZN_TRY(add_buffer(plan, made, &work->buffer, err));
        plan->current[node->id] = work->buffer;
        return ZENITH_OK;
    }
    work->buffer = plan->current[node->inputs[0]->id];
    zn_buffer *buffer = &plan->buffers[work->buffer];
    widen(buffer, (zn_rows){made->first_row, made->first_row + made->rows});
    plan->current[node->id] = work->buffer;
    return measure_buffer(buffer, err);
}

// Enlarges the row range of a whole buffer so that `reader`, computing rows [0, padded), finds
// every row it asks for.
static void widen_for_reader(zn_buffer *buffer, const zn_node *reader, int64_t padded)
{
    for (int i = 0; i < reader->inputs_count; i++) {
        if (reader->inputs[i] != buffer->node || !zn_node_is_map(buffer->node)) continue;
        widen(buffer, zn_node_rows(reader, i, (zn_rows){0, padded}));
    }
}

// --- sequential ---------------------------------------------------------------------------------

static int64_t padded_rows(const zn_plan *plan, const zn_node *node, int64_t *call_rows)
{
    zn_work work = begin_work(plan, node);
    if (node->kind != ZN_NODE_OP || !zn_node_is_map(node) || zn_node_is_barrier(node)) {
        *call_rows = work.height;
        return work.height;
    }
    // Calls of about one size: rows are computed beyond the last to make the last call full.
    const int64_t most = short_call(plan, &work, work.height);
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
    zn_work work = begin_work(plan, node);
    const int tick = plan->ticks;
    int64_t padded = padded_rows(plan, node, &work.call_rows);
    work.chunk = work.call_rows;
    zn_buffer made = {.node = node, .rows = padded, .born = tick, .dies = tick};
    for (size_t id = (size_t)node->id + 1; id < plan->graph->count; id++) {
        int64_t calls;
        const zn_node *reader = plan->graph->nodes[id];
        if (!takes(reader, node)) continue;
        widen_for_reader(&made, reader, padded_rows(plan, reader, &calls));
    }
    ZN_TRY(give_buffer(plan, &work, &made, err));
    // A frame of an earlier run is there; it is work to show it to the world only.
    if (node->kind == ZN_NODE_STATE && work.output_index < 0) return ZENITH_OK;
    plan->ticks++;
    link_inputs(plan, &work, tick);
    count_work(plan, &work);
    return add_work(plan, &work, err);
}

static void keep_alive(zn_plan *plan)
{
    for (size_t id = 0; plan->options.keep_everything && id < plan->graph->count; id++) {
        if (plan->current[id] >= 0) plan->buffers[plan->current[id]].dies = plan->ticks;
    }
}

static bool is_frame_of(const zn_node *node, const char *state)
{
    return node->kind == ZN_NODE_STATE && strcmp(node->name, state) == 0;
}

static bool reads_state(const zn_node *reader, const char *state)
{
    for (int i = 0; i < reader->inputs_count; i++) {
        if (is_frame_of(reader->inputs[i], state)) return true;
    }
    return false;
}

// A late frame is there until the state's last reader is done.
static void time_late_frames(zn_plan *plan)
{
    for (size_t i = 0; i < plan->frames_count; i++) {
        zn_frame *frame = &plan->frames[i];
        if (!frame->late || frame->age > 0) continue;
        for (int w = 0; w < (int)plan->works_count; w++) {
            const zn_node *node = plan->works[w].node;
            if (node == frame->node || reads_state(node, frame->state)) frame->work = w;
        }
        zn_buffer *buffer = &plan->buffers[frame->buffer]; // a tick is a work
        if (buffer->dies < frame->work) buffer->dies = frame->work;
    }
}

static zenith_status schedule_planes(zn_plan *plan, zn_error *err)
{
    ZN_TRY(add_pass(plan, false, err));
    for (size_t id = 0; id < plan->graph->count; id++) {
        if (in_memory(plan->graph->nodes[id])) {
            ZN_TRY(sequential_work(plan, plan->graph->nodes[id], err));
        }
    }
    plan->passes[0].works_count = (int)plan->works_count;
    time_late_frames(plan);
    keep_alive(plan);
    return ZENITH_OK;
}

// --- rolling ------------------------------------------------------------------------------------

typedef struct rolling {
    zn_plan *plan;
    bool *needed;  // by id: computed in this pass
    bool *stored;  // by id: to be held whole when computed
    int64_t *skew; // by id
    int *spilled;  // by id: 1 + the spill that has it, or 0
    bool *spill;   // by id: to be written to the spill file when computed
    int64_t times; // the length of this pass's rounds, in bands
    int pass;      // its number, of those that end at barriers and the last
} rolling;

static int64_t chunk_of(const rolling *r, const zn_node *node)
{
    return r->plan->options.band * r->times * (height_of(node) / r->plan->lowest);
}

// Rounds of a pass are as long as its heaviest weights want.
static void stretch_rounds(rolling *r)
{
    const zn_plan *plan = r->plan;
    int64_t times = 1;
    for (size_t id = 0; plan->stretch && id < plan->graph->count; id++) {
        const zn_node *node = plan->graph->nodes[id];
        if (!r->needed[id] || !zn_node_is_map(node)) continue;
        const int64_t chunk = plan->options.band * (height_of(node) / plan->lowest);
        const int64_t wanted = zn_rows_for_weights(node, plan->options.threads);
        if ((wanted + chunk - 1) / chunk > times) times = (wanted + chunk - 1) / chunk;
    }
    r->times = times;
}

// A value held whole has room for a chunk of each pass that reads it.
static zenith_status make_room(const rolling *r, const zn_work *work, zn_error *err)
{
    for (int i = 0; i < work->node->inputs_count; i++) {
        const zn_node *input = work->node->inputs[i];
        if (work->inputs[i] < 0 || !zn_node_is_map(input)) continue;
        zn_buffer *buffer = &r->plan->buffers[work->inputs[i]];
        if (buffer->window) continue;
        const int64_t margin = 2 * chunk_of(r, input) + 2;
        widen(buffer, (zn_rows){-margin, height_of(input) + margin});
        ZN_TRY(measure_buffer(buffer, err));
    }
    return ZENITH_OK;
}

// Marks a node to be computed in this pass, unless it is held whole already.
static void need(rolling *r, const zn_node *node)
{
    if (in_memory(node) && r->plan->current[node->id] < 0) r->needed[node->id] = true;
}

// Marks everything that the marked nodes need; inputs have smaller ids, so one walk does it.
static void need_inputs(rolling *r)
{
    for (size_t id = r->plan->graph->count; id-- > 0;) {
        const zn_node *node = r->plan->graph->nodes[id];
        if (r->spilled[id]) continue; // it is read
        for (int i = 0; r->needed[id] && i < node->inputs_count; i++) need(r, node->inputs[i]);
    }
}

// The smallest lag at which every row the node asks for in a round is there.
static int64_t find_skew(const rolling *r, const zn_node *node)
{
    int64_t chunk = chunk_of(r, node), skew = 0;
    for (int i = 0; !r->spilled[node->id] && i < node->inputs_count; i++) {
        const zn_node *input = node->inputs[i];
        if (!zn_node_is_map(input)) continue;
        int64_t there = (FAR + 1) * chunk_of(r, input) - r->skew[input->id];
        for (;; skew++) {
            int64_t end = (FAR + 1) * chunk - skew;
            if (zn_node_rows(node, i, (zn_rows){end - 1, end}).end <= there) break;
        }
    }
    return skew;
}

// Rows below the newest chunk of `node` that a reader in this pass still asks for in its round: a reader of the
// node, or, with a state, of its frames, which have the node's shape.
static int64_t find_keep(const rolling *r, const zn_node *node, const char *state)
{
    int64_t newest = FAR * chunk_of(r, node) - r->skew[node->id], keep = 0;
    for (size_t id = 0; id < r->plan->graph->count; id++) {
        const zn_node *reader = r->plan->graph->nodes[id];
        if (!r->needed[id] || r->spilled[id] || zn_node_is_barrier(reader)) continue;
        for (int i = 0; i < reader->inputs_count; i++) {
            const zn_node *input = reader->inputs[i];
            if (state ? !is_frame_of(input, state) : input != node) continue;
            int64_t begin = FAR * chunk_of(r, reader) - r->skew[id];
            zn_rows rows = zn_node_rows(reader, i, (zn_rows){begin, begin + chunk_of(r, reader)});
            if (newest - rows.begin > keep) keep = newest - rows.begin;
        }
    }
    return keep;
}

// A value that is held whole has room for a full chunk, and for a reader's halo, on either side.
static zn_buffer whole_buffer(const rolling *r, const zn_node *node)
{
    int64_t margin = zn_node_is_map(node) ? 2 * chunk_of(r, node) + 2 : 0;
    zn_buffer made = {.node = node,
                      .first_row = -margin,
                      .rows = height_of(node) + 2 * margin,
                      .born = r->plan->ticks,
                      .dies = r->plan->ticks};
    for (size_t id = (size_t)node->id + 1; id < r->plan->graph->count; id++) {
        const zn_node *reader = r->plan->graph->nodes[id];
        if (zn_node_is_barrier(reader)) widen_for_reader(&made, reader, height_of(reader));
    }
    return made;
}

// The lowest row of `node` that is read in a round or later ones; INT64_MAX: none is.
static int64_t lowest_read(const rolling *r, const zn_node *node, int64_t round)
{
    int64_t lowest = INT64_MAX;
    for (size_t id = (size_t)node->id + 1; id < r->plan->graph->count; id++) {
        const zn_node *reader = r->plan->graph->nodes[id];
        if (!r->needed[id] || r->spilled[id] || zn_node_is_barrier(reader)) continue;
        const int64_t chunk = chunk_of(r, reader), begin = round * chunk - r->skew[id];
        for (int i = 0; begin < height_of(reader) && i < reader->inputs_count; i++) {
            if (reader->inputs[i] != node) continue;
            const zn_rows rows = zn_node_rows(reader, i, (zn_rows){begin, begin + chunk});
            if (rows.begin < lowest) lowest = rows.begin;
        }
    }
    return lowest;
}

// How far row 0 of what `work` makes must lie before row 0 of `under`, in rows of both, so that in no round it
// is written over what that round still reads.
static int64_t rows_between(const rolling *r, const zn_work *work, const zn_node *under)
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

static zn_keep kept_after(const rolling *r, int cut)
{
    const struct zn_cuts *cuts = r->plan->cuts;
    return (zn_keep)cuts->after[r->pass * cuts->count + cut];
}

static bool is_cut(const zn_plan *plan, const zn_node *node)
{
    return index_in((zn_node *const *)plan->cuts->nodes, (size_t)plan->cuts->count, node) >= 0;
}

// A value that will be held slides over one of its kind that will not be any more.
static void slide_over(const rolling *r, const zn_work *work)
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

// Rows that the spill file has are read from it, and those that it shall have are written to it.
static zenith_status link_spill(rolling *r, zn_work *work, zn_error *err)
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
    ZN_TRY(measure_buffer(made, err));
    work->spills = (int)++plan->spills_count;
    return ZENITH_OK;
}

// The window of a late frame has the rows that are still to be copied.
static void begin_late_frame(const rolling *r, zn_frame *frame, zn_buffer *window)
{
    frame->made = true;
    frame->pass = (int)r->plan->passes_count - 1;
    frame->lag = find_keep(r, frame->node, frame->state);
    if (window->keep < frame->lag) window->keep = frame->lag;
}

static zenith_status rolling_work(rolling *r, const zn_node *node, zn_error *err)
{
    zn_plan *plan = r->plan;
    zn_work work = begin_work(plan, node);
    zn_buffer made = whole_buffer(r, node);
    if (zn_node_is_map(node)) {
        work.chunk = chunk_of(r, node);
        work.skew = r->skew[node->id];
        int64_t limit = short_call(plan, &work, work.chunk);
        work.call_rows = largest_divisor(work.chunk, limit);
        if (!r->stored[node->id]) {
            made.window = true;
            made.chunk = work.chunk;
            made.skew = work.skew;
            made.keep = find_keep(r, node, NULL);
            zn_frame *late = late_frame(plan, node);
            if (late) begin_late_frame(r, late, &made);
            made.rows = made.chunk + made.keep;
        }
    } else {
        work.chunk = work.call_rows = 1;
    }
    int *buffer = &plan->current[node->id]; // that of a state is there
    if (*buffer < 0) ZN_TRY(add_buffer(plan, &made, buffer, err));
    work.buffer = *buffer;
    if (r->stored[node->id] && zn_node_is_map(node) && is_cut(plan, node)) slide_over(r, &work);
    ZN_TRY(link_spill(r, &work, err));
    link_inputs(plan, &work, plan->ticks);
    ZN_TRY(make_room(r, &work, err));
    count_work(plan, &work);
    zn_pass *pass = &plan->passes[plan->passes_count - 1];
    int64_t rounds = (work.height + work.skew + work.chunk - 1) / work.chunk;
    if (rounds > pass->rounds) pass->rounds = rounds;
    pass->works_count++;
    return add_work(plan, &work, err);
}

// Does a lowering compute its rows?
static bool computes(const zn_work *work)
{
    return work->node->op && !work->loads;
}

// Works of one resolution take the same steps, short enough for the slowest of them and for the cache:
// the runner then goes through them together, step by step. Two rows are better than one: kernels
// share what they load among them.
static void align_calls(zn_plan *plan, int first)
{
    enum { CACHED = 64 << 10, PAIR = 2 }; // bytes of one map's rows in a step, per thread
    for (size_t i = (size_t)first; i < plan->works_count; i++) {
        int64_t chunk = plan->works[i].chunk, rows = chunk, least = 1;
        if (stops_itself(plan->works[i].node)) continue; // its weights are read once a call
        for (size_t j = (size_t)first; j < plan->works_count; j++) {
            const zn_work *other = &plan->works[j];
            if (other->chunk != chunk || !computes(other) || stops_itself(other->node)) continue;
            size_t row_bytes = plan->buffers[other->buffer].row_bytes;
            int64_t cached = (int64_t)((size_t)CACHED / row_bytes);
            cached = (cached < PAIR ? PAIR : cached) * plan->options.threads;
            if (cached < rows) rows = cached;
            if (other->call_rows < rows) rows = other->call_rows;
            const int64_t wanted = zn_rows_for_weights(other->node, plan->options.threads);
            if (wanted > least) least = wanted;
        }
        if (rows < least) rows = least < chunk ? least : chunk;
        plan->works[i].call_rows = largest_divisor(chunk, rows);
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

static void forget_windows(rolling *r)
{
    for (size_t id = 0; id < r->plan->graph->count; id++) {
        int current = r->plan->current[id];
        if (current >= 0 && r->plan->buffers[current].window) r->plan->current[id] = -1;
    }
}

static zenith_status rolling_pass(rolling *r, zn_error *err)
{
    zn_plan *plan = r->plan;
    ZN_TRY(add_pass(plan, true, err));
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
    const int first = plan->passes[plan->passes_count - 1].first_work;
    align_calls(plan, first);
    number_groups(plan, first);
    make_rings(plan, first);
    plan->rewinds |= reads_input && plan->passes_count > 1;
    plan->ticks++;
    forget_windows(r);
    memset(r->needed, 0, plan->graph->count * sizeof *r->needed);
    return ZENITH_OK;
}

static zenith_status barrier_pass(rolling *r, const zn_node *node, zn_error *err)
{
    zn_plan *plan = r->plan;
    ZN_TRY(add_pass(plan, false, err));
    zn_work work = begin_work(plan, node);
    work.chunk = work.call_rows = work.height;
    zn_buffer made = whole_buffer(r, node);
    ZN_TRY(give_buffer(plan, &work, &made, err));
    link_inputs(plan, &work, plan->ticks);
    count_work(plan, &work);
    plan->passes[plan->passes_count - 1].works_count = 1;
    plan->ticks++;
    return add_work(plan, &work, err);
}

// Frames are made by the first pass that can: what they are made from is at hand there, and they are
// held whole for all passes after it.
static void need_pushes(rolling *r, int before)
{
    const zn_graph *graph = r->plan->graph;
    for (size_t i = 0; i < graph->pushes_count; i++) {
        const zn_node *node = graph->pushes[i].node;
        const zn_frame *late = late_frame(r->plan, node);
        if (node->id < before && !(late && late->made)) need(r, node);
    }
}

// Frames of earlier runs are there from the start; those to come are held whole.
static zenith_status hold_frames(rolling *r, zn_error *err)
{
    zn_plan *plan = r->plan;
    for (size_t i = 0; i < plan->frames_count; i++) {
        const zn_node *node = plan->frames[i].node;
        r->stored[node->id] = is_held_frame(plan, node);
        if (node->kind != ZN_NODE_STATE) continue;
        zn_buffer made = whole_buffer(r, node);
        ZN_TRY(add_buffer(plan, &made, &plan->current[node->id], err));
    }
    return ZENITH_OK;
}

static void mark_cuts(rolling *r)
{
    for (int cut = 0; cut < r->plan->cuts->count; cut++) {
        const int id = r->plan->cuts->nodes[cut]->id;
        r->stored[id] = kept_after(r, cut) == ZN_KEEP_WHOLE;
        r->spill[id] = kept_after(r, cut) == ZN_KEEP_SPILLED;
    }
}

// After the pass: what it wrote to the spill file is there, and what is not kept is forgotten.
static void settle_cuts(rolling *r)
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

static zenith_status before_barrier(rolling *r, const zn_node *barrier, zn_error *err)
{
    mark_cuts(r);
    for (int i = 0; i < barrier->inputs_count; i++) {
        r->stored[barrier->inputs[i]->id] = true;
        need(r, barrier->inputs[i]);
    }
    need_pushes(r, barrier->id);
    ZN_TRY(rolling_pass(r, err));
    settle_cuts(r);
    return barrier_pass(r, barrier, err);
}

static zenith_status schedule_rolling(rolling *r, zn_error *err)
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
    mark_cuts(r);
    ZN_TRY(rolling_pass(r, err));
    keep_alive(r->plan);
    return ZENITH_OK;
}

// --- states -------------------------------------------------------------------------------------

static zenith_status add_frame(zn_plan *plan, const char *state, const zn_node *node, int age,
                               zn_error *err)
{
    for (size_t i = 0; i < plan->frames_count; i++) {
        const zn_frame *other = &plan->frames[i];
        if (strcmp(other->state, state) != 0) continue;
        if (age <= 0 && other->age <= 0) age--; // pushed after that one
        if (zn_same_frames(&other->node->desc, &node->desc)) continue;
        return zn_fail(err, ZENITH_INTERNAL, "state '%s' has frames of several shapes or types",
                       state);
    }
    plan->frames[plan->frames_count++] = (zn_frame){.state = state, .node = node, .age = age};
    plan->frame_of[node->id] = (int)plan->frames_count;
    return ZENITH_OK;
}

static zenith_status list_frames(zn_plan *plan, zn_error *err)
{
    const zn_graph *graph = plan->graph;
    size_t count = graph->pushes_count;
    for (size_t id = 0; id < graph->count; id++) count += graph->nodes[id]->kind == ZN_NODE_STATE;
    plan->frame_of = zn_arena_alloc(&plan->arena, (graph->count + 1) * sizeof *plan->frame_of);
    plan->frames = zn_arena_alloc(&plan->arena, (count + 1) * sizeof *plan->frames);
    if (!plan->frame_of || !plan->frames) return zn_fail_memory(err, count * sizeof(zn_frame));
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        if (node->kind != ZN_NODE_STATE) continue;
        ZN_TRY(add_frame(plan, node->name, node, node->age, err));
    }
    for (size_t i = 0; i < graph->pushes_count; i++) {
        ZN_TRY(add_frame(plan, graph->pushes[i].state, graph->pushes[i].node, 0, err));
    }
    return ZENITH_OK;
}

static zenith_status start_rolling(zn_plan *plan, bool *found, zn_error *err)
{
    const size_t n = plan->graph->count;
    rolling r = {.plan = plan,
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

// A state that is read and pushed, and not shown to the world, may have late frames.
static bool may_be_late(const zn_plan *plan, const char *state)
{
    bool read = false, pushed = false;
    for (size_t i = 0; i < plan->frames_count; i++) {
        const zn_frame *frame = &plan->frames[i];
        const zn_node *node = frame->node;
        if (strcmp(frame->state, state) != 0) continue;
        read |= frame->age > 0;
        pushed |= frame->age <= 0;
        if (!zn_node_is_map(node) || (frame->age <= 0 && node->kind == ZN_NODE_STATE)) return false;
        if (frame->age > 0 && index_in(plan->graph->outputs, plan->graph->outputs_count, node) >= 0)
            return false;
    }
    return read && pushed;
}

// Whether all that reads a state or makes its frames is computed in one rolling pass, once.
static bool in_one_pass(const zn_plan *plan, const char *state)
{
    int found = -1;
    for (int p = 0; p < (int)plan->passes_count; p++) {
        const zn_pass *pass = &plan->passes[p];
        for (int w = pass->first_work; w < pass->first_work + pass->works_count; w++) {
            const zn_node *node = plan->works[w].node;
            const int frame = plan->frame_of[node->id];
            const bool makes = frame && node->kind != ZN_NODE_STATE &&
                               strcmp(plan->frames[frame - 1].state, state) == 0;
            if (!makes && !reads_state(node, state)) continue;
            if (!pass->rolling || (found >= 0 && found != p)) return false;
            found = p;
        }
    }
    return true;
}

static void set_late(zn_plan *plan, const char *state, bool late)
{
    for (size_t i = 0; i < plan->frames_count; i++) {
        if (strcmp(plan->frames[i].state, state) == 0) plan->frames[i].late = late;
    }
}

// Takes back what was hoped of states that turn out not to be in one pass; true: there were some.
static bool drop_late_frames(zn_plan *plan)
{
    bool dropped = false;
    for (size_t i = 0; i < plan->frames_count; i++) {
        const zn_frame *frame = &plan->frames[i];
        if (!frame->late || in_one_pass(plan, frame->state)) continue;
        set_late(plan, frame->state, false);
        dropped = true;
    }
    return dropped;
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
        ZN_TRY(start_rolling(plan, found, err));
    } while (*found && drop_late_frames(plan));
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
    ZN_TRY(list_frames(plan, err));
    for (size_t i = 0; plan->options.late_frames && i < plan->frames_count; i++)
        plan->frames[i].late = may_be_late(plan, plan->frames[i].state);
    if (plan->options.mode == ZN_PLAN_PLANES) return schedule_planes(plan, err);
    return schedule_bands(plan, found, err);
}
