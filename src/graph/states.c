// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One block of memory for all rings. A slot is the zero rows above, the map, and the zero rows
// below; plans keep the padding zero when they write a frame.
#include "src/graph/states.h"

#include "src/graph/plan_parts.h"

#include <string.h>

typedef struct ring {
    const char *name;
    zn_desc desc;
    int64_t height, above, below; // rows
    size_t row_bytes, slot_bytes, offset;
    int slots, next; // `next` is the slot that the next push fills
} ring;

struct zn_states {
    zn_arena arena; // of the table
    ring *rings;
    size_t count, capacity;
    size_t bytes;
    uint8_t *data;
};

static ring *find(const zn_states *states, const char *name)
{
    for (size_t i = 0; i < states->count; i++) {
        if (strcmp(states->rings[i].name, name) == 0) return &states->rings[i];
    }
    return NULL;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int pushes_of(const zn_plan *plan, const char *state)
{
    int count = 0;
    for (size_t i = 0; i < plan->frames_count; i++) {
        count += plan->frames[i].age <= 0 && strcmp(plan->frames[i].state, state) == 0;
    }
    return count;
}

// What a plan asks of a ring for one of its frames. The frames that it reads stay while those that
// it pushes are written, unless these come late.
static ring wanted_ring(const zn_plan *plan, const zn_frame *frame)
{
    const zn_buffer *buffer = &plan->buffers[frame->buffer];
    const int64_t height = zn_node_is_map(frame->node) ? frame->node->desc.shape.dim[1] : 1;
    const int reads = frame->age > 0 ? frame->age : 0, pushes = pushes_of(plan, frame->state);
    ring wanted = {.name = frame->state,
                   .desc = frame->node->desc,
                   .height = height,
                   .row_bytes = buffer->row_bytes,
                   .slots = reads + pushes};
    if (frame->late) wanted.slots = reads > pushes ? reads : pushes;
    if (!buffer->late) { // that of a late frame is in the arena
        wanted.above = -buffer->first_row;
        wanted.below = buffer->first_row + buffer->rows - height;
    }
    return wanted;
}

static zenith_status other_frames(const char *name, zn_error *err)
{
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "state '%s' has frames of another shape or type in another plan", name);
}

static zenith_status add_ring(zn_states *states, const ring *wanted, zn_error *err)
{
    ring *known = find(states, wanted->name);
    if (known) {
        if (!zn_same_frames(&known->desc, &wanted->desc)) return other_frames(wanted->name, err);
        known->above = larger(known->above, wanted->above);
        known->below = larger(known->below, wanted->below);
        if (wanted->slots > known->slots) known->slots = wanted->slots;
        return ZENITH_OK;
    }
    ZN_TRY(zn_array_reserve((void **)&states->rings, &states->capacity, states->count + 1,
                            sizeof *states->rings, err));
    ring made = *wanted;
    made.name = zn_arena_text(&states->arena, wanted->name);
    if (!made.name) return zn_fail_memory(err, strlen(wanted->name));
    states->rings[states->count++] = made;
    return ZENITH_OK;
}

static zenith_status lay_out(zn_states *states, zn_error *err)
{
    for (size_t i = 0; i < states->count; i++) {
        ring *r = &states->rings[i];
        const size_t rows = (size_t)(r->above + r->height + r->below);
        size_t bytes = 0;
        bool fits = zn_mul_size(rows, r->row_bytes, &bytes) && bytes < SIZE_MAX / 4;
        if (fits) r->slot_bytes = zn_round_up(bytes, ZN_ALIGN);
        fits = fits && zn_mul_size(r->slot_bytes, (size_t)r->slots, &bytes);
        r->offset = states->bytes;
        if (!fits || !zn_add_size(states->bytes, bytes, &states->bytes)) {
            return zn_fail(err, ZENITH_LIMIT, "state '%s' is too large for this machine's memory",
                           r->name);
        }
    }
    return ZENITH_OK;
}

static zenith_status list_rings(zn_states *states, const zn_plan *const *plans, size_t count,
                                zn_error *err)
{
    for (size_t p = 0; p < count; p++) {
        for (size_t i = 0; i < plans[p]->frames_count; i++) {
            const ring wanted = wanted_ring(plans[p], &plans[p]->frames[i]);
            ZN_TRY(add_ring(states, &wanted, err));
        }
    }
    return lay_out(states, err);
}

static void release(zn_states *states)
{
    zn_free(states->rings);
    zn_free(states->data);
    zn_arena_free(&states->arena);
}

zenith_status zn_states_measure(const zn_plan *const *plans, size_t count, size_t *bytes,
                                zn_error *err)
{
    zn_states states = {0};
    zenith_status status = list_rings(&states, plans, count, err);
    if (status == ZENITH_OK) *bytes = states.bytes;
    release(&states);
    return status;
}

zenith_status zn_states_create(const zn_plan *const *plans, size_t count, zn_states **out,
                               zn_error *err)
{
    zn_states *states = zn_alloc_zero(sizeof *states);
    if (!states) return zn_fail_memory(err, sizeof *states);
    zenith_status status = ZENITH_OK;
    ZN_GO(list_rings(states, plans, count, err));
    states->data = zn_alloc_zero(states->bytes ? states->bytes : 1);
    if (!states->data) {
        status = zn_fail_memory(err, states->bytes);
        goto fail;
    }
    *out = states;
    return ZENITH_OK;
fail:
    zn_states_free(states);
    return status;
}

void zn_states_free(zn_states *states)
{
    if (!states) return;
    release(states);
    zn_free(states);
}

void zn_states_reset(zn_states *states)
{
    memset(states->data, 0, states->bytes);
    for (size_t i = 0; i < states->count; i++) states->rings[i].next = 0;
}

size_t zn_states_bytes(const zn_states *states)
{
    return states->bytes;
}

static uint8_t *frame_at(const zn_states *states, const ring *r, int age)
{
    const int slot = ((r->next - age) % r->slots + r->slots) % r->slots;
    return states->data + r->offset + (size_t)slot * r->slot_bytes +
           (size_t)r->above * r->row_bytes;
}

const void *zn_states_frame(const zn_states *states, const char *name, int age)
{
    const ring *r = find(states, name);
    return r && age >= 0 && age <= r->slots ? frame_at(states, r, age) : NULL;
}

zenith_status zn_states_place(const zn_states *states, const zn_plan *plan, zn_frame_place *places,
                              zn_error *err)
{
    for (size_t i = 0; i < plan->frames_count; i++) {
        const zn_frame *frame = &plan->frames[i];
        const ring wanted = wanted_ring(plan, frame);
        const ring *r = states ? find(states, frame->state) : NULL;
        if (r && !zn_same_frames(&r->desc, &wanted.desc)) return other_frames(frame->state, err);
        if (!r || r->above < wanted.above || r->below < wanted.below || r->slots < wanted.slots) {
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "state '%s': the states of this run were not made for this plan",
                           frame->state);
        }
        places[i] = (zn_frame_place){frame_at(states, r, frame->age), r->above, r->below};
    }
    return ZENITH_OK;
}

void zn_states_advance(zn_states *states, const zn_plan *plan)
{
    for (size_t i = 0; i < plan->frames_count; i++) {
        if (plan->frames[i].age > 0) continue;
        ring *r = find(states, plan->frames[i].state);
        r->next = (r->next + 1) % r->slots;
    }
}
