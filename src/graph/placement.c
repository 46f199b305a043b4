// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where values lie in the arena. Two buffers may share bytes if their lives do not overlap. Largest
// first, each at the lowest place that is free for its whole life: for the chains and small
// diamonds of autoencoders this is within a few per cent of the peak of live bytes.
#include "src/graph/plan_parts.h"

#include <stdlib.h>

static bool live_together(const zn_buffer *a, const zn_buffer *b)
{
    return a->born <= b->dies && b->born <= a->dies;
}

static void sort_by_size(zn_buffer **list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        zn_buffer *moving = list[i];
        size_t at = i;
        for (; at > 0 && list[at - 1]->bytes < moving->bytes; at--) list[at] = list[at - 1];
        list[at] = moving;
    }
}

// The lowest offset at which `buffer` touches none of the `placed` ones that live with it.
static size_t lowest_place(const zn_buffer *buffer, zn_buffer *const *placed, size_t count)
{
    size_t offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < count; i++) {
            const zn_buffer *other = placed[i];
            if (!live_together(buffer, other)) continue;
            bool apart = offset + buffer->bytes <= other->offset ||
                         other->offset + other->bytes <= offset;
            if (apart) continue;
            offset = zn_round_up(other->offset + other->bytes, ZN_ALIGN);
            moved = true;
        }
    }
    return offset;
}

static zenith_status place_all(zn_buffer **list, size_t count, size_t *end, zn_error *err)
{
    sort_by_size(list, count);
    *end = 0;
    for (size_t i = 0; i < count; i++) {
        list[i]->offset = lowest_place(list[i], list, i);
        size_t last = 0;
        if (!zn_add_size(list[i]->offset, list[i]->bytes, &last) || last > SIZE_MAX / 2) {
            return zn_fail(err, ZENITH_LIMIT, "the picture is too large for this machine's memory");
        }
        if (last > *end) *end = last;
    }
    return ZENITH_OK;
}

zenith_status zn_plan_place(zn_plan *plan, zn_error *err)
{
    const size_t most = plan->buffers_count + plan->spills_count;
    size_t count = 0, end = 0;
    zn_buffer **list = zn_arena_alloc(&plan->arena, (most + 1) * sizeof *list);
    if (!list) return zn_fail_memory(err, most * sizeof *list);
    for (size_t i = 0; i < plan->spills_count; i++) list[i] = &plan->spills[i];
    ZN_TRY(place_all(list, plan->spills_count, &plan->spill_bytes, err));
    for (size_t i = 0; i < plan->buffers_count; i++) {
        if (!plan->buffers[i].frame) list[count++] = &plan->buffers[i];
    }
    ZN_TRY(place_all(list, count, &end, err));
    plan->places_offset = zn_round_up(end, ZN_ALIGN);
    plan->scratch_offset = plan->places_offset +
                           zn_round_up(plan->frames_count * sizeof(zn_frame_place), ZN_ALIGN);
    plan->bytes = plan->scratch_offset + zn_round_up(plan->scratch_bytes, ZN_ALIGN);
    return ZENITH_OK;
}
