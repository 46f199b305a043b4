// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where values lie in the arena. Two buffers may share bytes if their lives do not overlap, or if
// one slides over the other. Largest first, each at the lowest place that is free for its whole
// life: for the chains and small diamonds of autoencoders this is within a few per cent of the peak
// of live bytes.
#include "src/graph/plan_parts.h"

#include <stdlib.h>

// What has its place together: a buffer, and those that slide over it one after the other.
typedef struct block {
    zn_buffer *first;
    size_t before; // bytes of the block before the first of `first`
    size_t bytes, offset;
    int born, dies;
} block;

static bool live_together(const block *a, const block *b)
{
    return a->born <= b->dies && b->born <= a->dies;
}

static void sort_by_size(block *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const block moving = list[i];
        size_t at = i;
        for (; at > 0 && list[at - 1].bytes < moving.bytes; at--) list[at] = list[at - 1];
        list[at] = moving;
    }
}

// The lowest offset at which a block touches none of the `placed` ones that live with it.
static size_t lowest_place(const block *made, const block *placed, size_t count)
{
    size_t offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < count; i++) {
            const block *other = &placed[i];
            if (!live_together(made, other)) continue;
            bool apart = offset + made->bytes <= other->offset ||
                         other->offset + other->bytes <= offset;
            if (apart) continue;
            offset = zn_round_up(other->offset + other->bytes, ZN_ALIGN);
            moved = true;
        }
    }
    return offset;
}

// How far the first byte of `buffer` lies before that of what it slides over, rounded so that
// places stay aligned.
static int64_t step_down(const zn_buffer *buffer, const zn_buffer *over)
{
    const int64_t top = -buffer->first_row * (int64_t)buffer->row_bytes;
    const int64_t other = -over->first_row * (int64_t)over->row_bytes;
    const int64_t step = buffer->gap + top - other;
    return step <= 0 ? -(-step / ZN_ALIGN * ZN_ALIGN)
                     : (int64_t)zn_round_up((size_t)step, ZN_ALIGN);
}

// The buffers from `first` on. With `place` they get their places, else their extent is measured.
static void walk_block(zn_buffer *buffers, block *made, bool place)
{
    int64_t at = 0, low = 0, high = (int64_t)made->first->bytes;
    for (zn_buffer *buffer = made->first;;) {
        if (place) buffer->offset = made->offset + (size_t)((int64_t)made->before + at);
        if (buffer->dies > made->dies) made->dies = buffer->dies;
        if (!buffer->under) break;
        zn_buffer *next = &buffers[buffer->under - 1];
        at -= step_down(next, buffer);
        if (at < low) low = at;
        if (at + (int64_t)next->bytes > high) high = at + (int64_t)next->bytes;
        buffer = next;
    }
    made->before = (size_t)-low;
    made->bytes = (size_t)(high - low);
}

static zenith_status place_all(zn_plan *plan, zn_buffer *buffers, size_t buffers_count, size_t *end,
                               zn_error *err)
{
    size_t count = 0;
    block *list = zn_arena_alloc(&plan->arena, (buffers_count + 1) * sizeof *list);
    if (!list) return zn_fail_memory(err, buffers_count * sizeof *list);
    for (size_t i = 0; i < buffers_count; i++) {
        if (buffers[i].frame || buffers[i].over) continue;
        list[count] = (block){.first = &buffers[i], .born = buffers[i].born};
        walk_block(buffers, &list[count++], false);
    }
    sort_by_size(list, count);
    *end = 0;
    for (size_t i = 0; i < count; i++) {
        list[i].offset = lowest_place(&list[i], list, i);
        size_t last = 0;
        if (!zn_add_size(list[i].offset, list[i].bytes, &last) || last > SIZE_MAX / 2) {
            return zn_fail(err, ZENITH_LIMIT, "the picture is too large for this machine's memory");
        }
        walk_block(buffers, &list[i], true);
        if (last > *end) *end = last;
    }
    return ZENITH_OK;
}

zenith_status zn_plan_place(zn_plan *plan, zn_error *err)
{
    size_t end = 0;
    ZN_TRY(place_all(plan, plan->spills, plan->spills_count, &plan->spill_bytes, err));
    ZN_TRY(place_all(plan, plan->buffers, plan->buffers_count, &end, err));
    plan->places_offset = zn_round_up(end, ZN_ALIGN);
    plan->scratch_offset = plan->places_offset +
                           zn_round_up(plan->frames_count * sizeof(zn_frame_place), ZN_ALIGN);
    plan->bytes = plan->scratch_offset + zn_round_up(plan->scratch_bytes, ZN_ALIGN);
    return ZENITH_OK;
}
