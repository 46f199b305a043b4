// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Running a plan. Where the rows of a value lie is a pure function of the round, so a run has no
// state of its own but the work done so far.
#include "src/base/os.h"
#include "src/graph/plan_parts.h"

#include <string.h>

typedef struct runner {
    const zn_plan *plan;
    const zn_run *run;
    uint8_t *arena;
    const zn_frame_place *places; // of the frames of states
    zn_team *team;
    bool last_pass;
    double done;     // flops
    double reported; // fraction at the last progress call
} runner;

// Where row `row` of a value lies among the rows of its buffer.
static int64_t place_of(const zn_buffer *buffer, int64_t round, int64_t row)
{
    if (buffer->ring) {
        int64_t place = row % buffer->rows;
        return place < 0 ? place + buffer->rows : place;
    }
    int64_t first = buffer->window ? round * buffer->chunk - buffer->skew - buffer->keep
                                   : buffer->first_row;
    return row - first;
}

static uint8_t *row_at(const runner *r, const zn_buffer *buffer, int64_t round, int64_t row)
{
    if (buffer->frame) {
        return r->places[buffer->frame - 1].first + row * (int64_t)buffer->row_bytes;
    }
    size_t place = (size_t)place_of(buffer, round, row);
    return r->arena + buffer->offset + place * buffer->row_bytes;
}

// How many rows from `row` on lie one after the other.
static int64_t unbroken_rows(const zn_buffer *buffer, int64_t row, int64_t count)
{
    int64_t room = buffer->ring ? buffer->rows - place_of(buffer, 0, row) : count;
    return room < count ? room : count;
}

static void zero_rows(const runner *r, const zn_buffer *buffer, int64_t round, int64_t begin,
                      int64_t end)
{
    while (begin < end) {
        int64_t count = unbroken_rows(buffer, begin, end - begin);
        memset(row_at(r, buffer, round, begin), 0, (size_t)count * buffer->row_bytes);
        begin += count;
    }
}

// Before a value's first rows: the padding above (and, where it is held whole, below) is zero.
static void begin_value(const runner *r, const zn_work *work, const zn_buffer *buffer)
{
    if (buffer->ring) {
        zero_rows(r, buffer, 0, 0, buffer->rows);
    } else if (buffer->window) {
        int64_t newest = -buffer->skew;
        zero_rows(r, buffer, 0, newest - buffer->keep, newest);
    } else if (buffer->frame) { // all of the padding: other plans may read more of it
        const zn_frame_place *place = &r->places[buffer->frame - 1];
        zero_rows(r, buffer, 0, -place->above, 0);
        zero_rows(r, buffer, 0, work->height, work->height + place->below);
    } else {
        zero_rows(r, buffer, 0, buffer->first_row, 0);
        if (!buffer->over) zero_rows(r, buffer, 0, work->height, buffer->first_row + buffer->rows);
    }
}

// The padding below a value that slid over another: there is room for it when the pass is over.
static void end_values(const runner *r, const zn_pass *pass)
{
    for (int i = 0; i < pass->works_count; i++) {
        const zn_work *work = &r->plan->works[pass->first_work + i];
        const zn_buffer *buffer = &r->plan->buffers[work->buffer];
        if (buffer->over) zero_rows(r, buffer, 0, work->height, buffer->first_row + buffer->rows);
    }
}

// Moves the rows that readers still need to the front of the window.
static void slide(const runner *r, const zn_buffer *buffer)
{
    uint8_t *data = r->arena + buffer->offset;
    size_t kept = (size_t)buffer->keep * buffer->row_bytes;
    memmove(data, data + (size_t)buffer->chunk * buffer->row_bytes, kept);
}

static zenith_status stopped(runner *r, zn_error *err)
{
    const zn_run *run = r->run;
    if (run->cancel && atomic_load_explicit(run->cancel, memory_order_relaxed) != 0) {
        return zn_fail(err, ZENITH_CANCELLED, "cancelled");
    }
    double fraction = r->plan->flops > 0 ? r->done / r->plan->flops : 1;
    if (!run->progress || fraction - r->reported < 0.005) return ZENITH_OK;
    r->reported = fraction;
    if (run->progress(run->cookie, fraction < 1 ? fraction : 1) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_CANCELLED, "stopped by the progress callback");
}

// Rows of a work to or from the spill file, a few megabytes at a time.
static zenith_status move_spill(runner *r, int index, int64_t row, int64_t rows, uint8_t *data,
                                bool out, zn_error *err)
{
    enum { PIECE = 4 << 20 };
    const zn_buffer *spill = &r->plan->spills[index - 1];
    size_t left = (size_t)rows * spill->row_bytes;
    uint64_t at = spill->offset + (uint64_t)row * spill->row_bytes;
    while (left > 0) {
        const size_t piece = left < PIECE ? left : PIECE;
        ZN_TRY(stopped(r, err));
        if (out) {
            ZN_TRY(zn_spill_write(r->run->spill, at, data, piece, err));
        } else {
            ZN_TRY(zn_spill_read(r->run->spill, at, data, piece, err));
        }
        at += piece, data += piece, left -= piece;
    }
    return ZENITH_OK;
}

static zenith_status spill_rows(runner *r, const zn_work *work, int64_t round, int64_t begin,
                                int64_t end, zn_error *err)
{
    const zn_buffer *buffer = &r->plan->buffers[work->buffer];
    while (begin < end) {
        const int64_t count = unbroken_rows(buffer, begin, end - begin);
        ZN_TRY(
            move_spill(r, work->spills, begin, count, row_at(r, buffer, round, begin), true, err));
        begin += count;
    }
    return ZENITH_OK;
}

// Rows of a leaf: from the caller, or a scalar. Those of a state are there.
static zenith_status fetch(runner *r, const zn_work *work, int64_t row, int64_t rows, uint8_t *dst,
                           zn_error *err)
{
    if (work->loads) return move_spill(r, work->loads, row, rows, dst, false, err);
    if (work->node->kind == ZN_NODE_INPUT) {
        return r->run->read(r->run->cookie, work->leaf_index, row, rows, dst, err);
    }
    if (work->node->kind == ZN_NODE_SCALAR) {
        memcpy(dst, &r->run->scalars[work->leaf_index], sizeof(float));
    }
    return ZENITH_OK;
}

static zn_rows rows_of_input(const zn_work *work, int input, int64_t row, int64_t rows)
{
    return zn_node_rows(work->node, input, (zn_rows){row, row + rows});
}

// Rows that one call can compute from `row` on: where its result or an input it reads row by row
// wraps around, there is another call. What reads several rows for one takes an input that wraps.
static int64_t rows_of_call(const runner *r, const zn_work *work, int64_t row, int64_t count)
{
    count = unbroken_rows(&r->plan->buffers[work->buffer], row, count);
    for (int i = 0; i < work->node->inputs_count; i++) {
        if (work->inputs[i] < 0 || !r->plan->buffers[work->inputs[i]].ring) continue;
        zn_rows one = rows_of_input(work, i, row, 1);
        for (; one.end - one.begin == 1 && count > 1; count--) {
            zn_rows all = rows_of_input(work, i, row, count);
            int64_t needed = all.end - all.begin;
            const zn_buffer *buffer = &r->plan->buffers[work->inputs[i]];
            if (unbroken_rows(buffer, all.begin, needed) == needed) break;
        }
    }
    return count;
}

static zenith_status call(runner *r, const zn_work *work, int64_t round, int64_t row, int64_t rows,
                          zn_error *err)
{
    const zn_plan *plan = r->plan;
    const void *inputs[ZN_MAX_INPUTS] = {0};
    zn_call made = {.inputs = inputs,
                    .output = row_at(r, &plan->buffers[work->buffer], round, row),
                    .row = row,
                    .rows = rows,
                    .wrap = INT64_MAX,
                    .scratch = r->arena + plan->scratch_offset,
                    .team = r->team,
                    .cancel = r->run->cancel};
    for (int i = 0; i < work->node->inputs_count; i++) {
        const zn_node *node = work->node->inputs[i];
        if (work->inputs[i] < 0) {
            inputs[i] = node->constant.data;
            continue;
        }
        const zn_buffer *buffer = &plan->buffers[work->inputs[i]];
        int64_t begin = 0;
        if (zn_node_is_map(node)) begin = rows_of_input(work, i, row, rows).begin;
        inputs[i] = row_at(r, buffer, round, begin);
        if (i == 0 && buffer->ring) {
            made.wrap = buffer->rows - place_of(buffer, round, begin);
            made.ring_bytes = buffer->bytes;
        }
    }
    r->done += work->flops_per_row * (double)rows;
    ZN_TRY(work->lowering->run(work->lowering, &made, err));
    // A lowering that saw the flag has returned early, with part of its result.
    return zn_call_stopped(&made) ? zn_fail(err, ZENITH_CANCELLED, "cancelled") : ZENITH_OK;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

// The rows [begin, end) of a work by its lowering, but for calls that lie outside the map.
static zenith_status call_rows(runner *r, const zn_work *work, int64_t round, int64_t begin,
                               int64_t end, zn_error *err)
{
    for (int64_t row = begin; row < end; row += work->call_rows) {
        if (row + work->call_rows <= 0 || row >= work->height) continue;
        ZN_TRY(stopped(r, err));
        const bool any = work->lowering->any_rows;
        const int64_t last = any ? clamp(row + work->call_rows, 0, work->height)
                                 : row + work->call_rows;
        for (int64_t at = any ? clamp(row, 0, work->height) : row; at < last;) {
            int64_t rows = rows_of_call(r, work, at, last - at);
            ZN_TRY(call(r, work, round, at, rows, err));
            at += rows;
        }
    }
    return ZENITH_OK;
}

// Rows [begin, end) of a window that lie outside the map are zero as far as a reader's halo goes.
static void zero_outside(const runner *r, const zn_work *work, int64_t round, int64_t begin,
                         int64_t end)
{
    const zn_buffer *buffer = &r->plan->buffers[work->buffer];
    int64_t reach = buffer->window ? buffer->keep + buffer->chunk : INT32_MAX;
    zero_rows(r, buffer, round, clamp(-reach, begin, end), clamp(0, begin, end));
    zero_rows(r, buffer, round, clamp(work->height, begin, end),
              clamp(work->height + reach, begin, end));
}

static void observe(const runner *r, const zn_work *work, int64_t round, int64_t begin, int64_t end)
{
    const zn_buffer *buffer = &r->plan->buffers[work->buffer];
    while (begin < end) {
        int64_t count = unbroken_rows(buffer, begin, end - begin);
        r->run->observe(r->run->cookie, work->node, begin, count, row_at(r, buffer, round, begin));
        begin += count;
    }
}

// Rows [begin, begin + count) of one work: computed, zeroed outside the map, and shown to the
// world.
static zenith_status compute(runner *r, const zn_work *work, int64_t round, int64_t begin,
                             int64_t count, zn_error *err)
{
    const zn_buffer *buffer = &r->plan->buffers[work->buffer];
    int64_t end = begin + count;
    int64_t inside = clamp(begin, 0, work->height), outside = clamp(end, 0, work->height);
    if (work->lowering) {
        ZN_TRY(call_rows(r, work, round, begin, end, err));
    } else if (inside < outside) {
        uint8_t *dst = row_at(r, buffer, round, inside);
        ZN_TRY(fetch(r, work, inside, outside - inside, dst, err));
    }
    zero_outside(r, work, round, begin, end);
    if (inside >= outside) return ZENITH_OK;
    if (r->run->observe && work->lowering) observe(r, work, round, inside, outside);
    if (work->spills) ZN_TRY(spill_rows(r, work, round, inside, outside, err));
    // What is held whole is made once; a window is complete in the last pass alone.
    if (work->output_index < 0 || (buffer->window && !r->last_pass)) return ZENITH_OK;
    return r->run->write(r->run->cookie, work->output_index, inside, outside - inside,
                         row_at(r, buffer, round, inside), err); // an output is no ring
}

// --- late frames --------------------------------------------------------------------------------

static void copy_rows(const runner *r, size_t index, int64_t round, int64_t begin, int64_t end)
{
    const zn_frame *frame = &r->plan->frames[index];
    const zn_buffer *buffer = &r->plan->buffers[frame->buffer];
    const int64_t height = frame->node->desc.shape.dim[1];
    begin = clamp(begin, 0, height);
    end = clamp(end, 0, height);
    if (begin >= end) return;
    memcpy(r->places[index].first + begin * (int64_t)buffer->row_bytes,
           row_at(r, buffer, round, begin), (size_t)(end - begin) * buffer->row_bytes);
}

// After a work in planes: the frames whose states it was the last to read.
static void copy_frames(const runner *r, int work)
{
    for (size_t i = 0; i < r->plan->frames_count; i++) {
        const zn_frame *frame = &r->plan->frames[i];
        if (frame->late && frame->age <= 0 && frame->work == work) copy_rows(r, i, 0, 0, INT64_MAX);
    }
}

// After a round: the rows of old frames that no later round reads go, and after the last one all
// others.
static void copy_round(const runner *r, int pass, int64_t round, bool last)
{
    for (size_t i = 0; i < r->plan->frames_count; i++) {
        const zn_frame *frame = &r->plan->frames[i];
        if (!frame->late || frame->age > 0 || frame->pass != pass) continue;
        const zn_buffer *buffer = &r->plan->buffers[frame->buffer];
        const int64_t begin = round * buffer->chunk - buffer->skew - frame->lag;
        copy_rows(r, i, round, begin, last ? INT64_MAX : begin + buffer->chunk);
    }
}

// --- passes -------------------------------------------------------------------------------------

static zenith_status run_sequential(runner *r, const zn_pass *pass, zn_error *err)
{
    for (int i = 0; i < pass->works_count; i++) {
        const zn_work *work = &r->plan->works[pass->first_work + i];
        begin_value(r, work, &r->plan->buffers[work->buffer]);
        for (int64_t row = 0; row < work->height; row += work->chunk) {
            ZN_TRY(compute(r, work, 0, row, work->chunk, err));
        }
        if (r->plan->options.mode == ZN_PLAN_PLANES) copy_frames(r, pass->first_work + i);
    }
    return ZENITH_OK;
}

static int group_size(const zn_work *first, int count)
{
    int size = 1;
    while (size < count && first[size].group == first->group) size++;
    return size;
}

static void begin_round(const runner *r, const zn_work *work, int64_t round)
{
    const zn_buffer *buffer = &r->plan->buffers[work->buffer];
    if (round == 0) begin_value(r, work, buffer);
    if (round > 0 && buffer->window && !buffer->ring) slide(r, buffer);
}

static zenith_status run_group(runner *r, const zn_work *works, int count, int64_t round,
                               zn_error *err)
{
    const int64_t step = works->lowering ? works->call_rows : works->chunk;
    for (int i = 0; i < count; i++) begin_round(r, &works[i], round);
    for (int64_t at = 0; at < works->chunk; at += step) {
        for (int i = 0; i < count; i++) {
            const zn_work *work = &works[i];
            int64_t begin = round * work->chunk - work->skew + at;
            // A value held whole has no room, and no reader, for rows far outside.
            bool outside = begin >= work->height || begin + step <= 0;
            if (outside && !r->plan->buffers[work->buffer].window) continue;
            ZN_TRY(compute(r, work, round, begin, step, err));
        }
    }
    return ZENITH_OK;
}

static zenith_status run_round(runner *r, const zn_pass *pass, int64_t round, zn_error *err)
{
    const zn_work *works = &r->plan->works[pass->first_work];
    for (int i = 0; i < pass->works_count;) {
        int count = group_size(&works[i], pass->works_count - i);
        ZN_TRY(run_group(r, &works[i], count, round, err));
        i += count;
    }
    return ZENITH_OK;
}

zenith_status zn_plan_run(const zn_plan *plan, void *arena, zn_team *team, const zn_run *run,
                          zn_error *err)
{
    zn_frame_place *places = (zn_frame_place *)(void *)((uint8_t *)arena + plan->places_offset);
    runner r = {.plan = plan, .run = run, .arena = arena, .places = places, .team = team};
    if (plan->spills_count && !run->spill)
        return zn_fail(err, ZENITH_INTERNAL, "this plan needs a spill file");
    if (plan->frames_count) ZN_TRY(zn_states_place(run->states, plan, places, err));
    for (size_t p = 0; p < plan->passes_count; p++) {
        const zn_pass *pass = &plan->passes[p];
        r.last_pass = p + 1 == plan->passes_count;
        if (!pass->rolling) {
            ZN_TRY(run_sequential(&r, pass, err));
            continue;
        }
        for (int64_t round = 0; round < pass->rounds; round++) {
            ZN_TRY(run_round(&r, pass, round, err));
            copy_round(&r, (int)p, round, round + 1 == pass->rounds);
        }
        end_values(&r, pass);
    }
    if (plan->frames_count) zn_states_advance(run->states, plan);
    if (run->progress) run->progress(run->cookie, 1);
    return ZENITH_OK;
}
