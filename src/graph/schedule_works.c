// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts that schedules are made of: a work with its rows per call, the buffers that it writes
// and reads, a pass.
#include "src/graph/schedule_parts.h"

// About how long one call may take before the run looks at the cancel flag again, and the speed we
// assume to keep to that: careful figures, a factor of two below what the kernels reach.
static const double call_seconds = 0.005;

double zn_plan_assumed_speed(const zn_plan *plan, const zn_node *node)
{
    const zn_plan_options *options = &plan->options;
    const unsigned flags = options->cpu.flags;
    double speed = flags & ZN_CPU_AVX512 ? 60e9 : flags & ZN_CPU_AVX2 ? 30e9 : 5e9; // in f32
    if (!options->dnn) speed /= 4;
    zn_type type = node->inputs_count > 0 ? node->inputs[0]->desc.type : ZN_F32;
    if (options->dnn && zn_cpu_has(flags, ZN_CPU_AMX) && type != ZN_F32) speed *= 8;
    return speed * options->threads;
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
    return wanted < zn_node_height(node) ? wanted : zn_node_height(node);
}

bool zn_node_stops_itself(const zn_node *node)
{
    return node->kind == ZN_NODE_OP && (node->op->traits & ZN_OP_STOPS);
}

int64_t zn_work_short_call(const zn_plan *plan, const zn_work *work, int64_t limit)
{
    if (work->flops_per_row <= 0 || zn_node_stops_itself(work->node)) return limit;
    double rows = call_seconds * zn_plan_assumed_speed(plan, work->node) / work->flops_per_row;
    const int64_t least = zn_rows_for_weights(work->node, plan->options.threads);
    if (rows < (double)least) rows = (double)least;
    return rows >= (double)limit ? limit : (int64_t)rows;
}

int zn_node_index(zn_node *const *list, size_t count, const zn_node *node)
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

zn_work zn_work_begin(const zn_plan *plan, const zn_node *node)
{
    zn_work work = {.node = node, .height = zn_node_height(node)};
    work.output_index = zn_node_index(plan->graph->outputs, plan->graph->outputs_count, node);
    if (node->kind != ZN_NODE_OP) work.leaf_index = number_of(plan->graph, node);
    work.flops_per_row = zn_node_flops(node) / (double)(work.height > 0 ? work.height : 1);
    return work;
}

void zn_work_count(zn_plan *plan, const zn_work *work)
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

zenith_status zn_work_add(zn_plan *plan, const zn_work *made, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&plan->works, &plan->works_capacity, plan->works_count + 1,
                            sizeof *plan->works, err));
    plan->works[plan->works_count++] = *made;
    return ZENITH_OK;
}

zenith_status zn_schedule_add_pass(zn_plan *plan, bool rolling, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&plan->passes, &plan->passes_capacity, plan->passes_count + 1,
                            sizeof *plan->passes, err));
    plan->passes[plan->passes_count++] = (zn_pass){
        .rolling = rolling, .tick = plan->ticks, .first_work = (int)plan->works_count};
    return ZENITH_OK;
}

static zenith_status row_bytes_of(const zn_node *node, size_t *out, zn_error *err)
{
    zn_desc desc = node->desc;
    if (zn_node_is_map(node)) desc.shape.dim[1] = 1;
    if (zn_desc_bytes(&desc, out)) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "'%s' is too large for this machine's memory", node->name);
}

zenith_status zn_buffer_measure(zn_buffer *buffer, zn_error *err)
{
    ZN_TRY(row_bytes_of(buffer->node, &buffer->row_bytes, err));
    if (zn_mul_size(buffer->row_bytes, (size_t)buffer->rows, &buffer->bytes)) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "'%s' is too large for this machine's memory",
                   buffer->node->name);
}

zenith_status zn_buffer_add(zn_plan *plan, const zn_buffer *made, int *index, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&plan->buffers, &plan->buffers_capacity,
                            plan->buffers_count + 1, sizeof *plan->buffers, err));
    zn_buffer *buffer = &plan->buffers[plan->buffers_count];
    *buffer = *made;
    const int frame = plan->frame_of[made->node->id];
    buffer->late = zn_frame_late(plan, made->node) != NULL;
    buffer->frame = buffer->late ? 0 : frame;
    ZN_TRY(zn_buffer_measure(buffer, err));
    *index = (int)plan->buffers_count++;
    if (frame) plan->frames[frame - 1].buffer = *index;
    return ZENITH_OK;
}

void zn_buffer_widen(zn_buffer *buffer, zn_rows need)
{
    int64_t end = buffer->first_row + buffer->rows;
    if (need.begin < buffer->first_row) buffer->first_row = need.begin;
    if (need.end > end) end = need.end;
    buffer->rows = end - buffer->first_row;
}

void zn_buffer_widen_for(zn_buffer *buffer, const zn_node *reader, int64_t padded)
{
    for (int i = 0; i < reader->inputs_count; i++) {
        if (reader->inputs[i] != buffer->node || !zn_node_is_map(buffer->node)) continue;
        zn_buffer_widen(buffer, zn_node_rows(reader, i, (zn_rows){0, padded}));
    }
}

void zn_work_link_inputs(zn_plan *plan, zn_work *work, int tick)
{
    for (int i = 0; i < ZN_MAX_INPUTS; i++) work->inputs[i] = -1;
    for (int i = 0; !work->loads && i < work->node->inputs_count; i++) {
        const zn_node *input = work->node->inputs[i];
        if (!zn_node_in_memory(input)) continue;
        work->inputs[i] = plan->current[input->id];
        zn_buffer *buffer = &plan->buffers[work->inputs[i]];
        if (buffer->dies < tick) buffer->dies = tick;
    }
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

zenith_status zn_work_give_buffer(zn_plan *plan, zn_work *work, const zn_buffer *made,
                                  zn_error *err)
{
    const zn_node *node = work->node;
    work->in_place = runs_in_place(plan, node);
    if (!work->in_place) {
        ZN_TRY(zn_buffer_add(plan, made, &work->buffer, err));
        plan->current[node->id] = work->buffer;
        return ZENITH_OK;
    }
    work->buffer = plan->current[node->inputs[0]->id];
    zn_buffer *buffer = &plan->buffers[work->buffer];
    zn_buffer_widen(buffer, (zn_rows){made->first_row, made->first_row + made->rows});
    plan->current[node->id] = work->buffer;
    return zn_buffer_measure(buffer, err);
}
