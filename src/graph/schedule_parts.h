// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files that schedule share: schedule.c (planes, and the choice), schedule_rolling.c
// (bands), schedule_works.c, schedule_frames.c, schedule_cuts.c and schedule_steps.c.
#ifndef ZN_GRAPH_SCHEDULE_PARTS_H
#define ZN_GRAPH_SCHEDULE_PARTS_H

#include "src/graph/cuts.h"

static inline int64_t zn_node_height(const zn_node *node)
{
    return zn_node_is_map(node) ? node->desc.shape.dim[1] : 1;
}

// Parameters are read where they lie; everything else needs a buffer.
static inline bool zn_node_in_memory(const zn_node *node)
{
    return node->kind != ZN_NODE_PARAMETER;
}

static inline int64_t zn_largest_divisor(int64_t number, int64_t limit)
{
    while (number % limit != 0) limit--;
    return limit;
}

// --- works, buffers and passes (schedule_works.c)

int zn_node_index(zn_node *const *list, size_t count, const zn_node *node); // or -1
// An operator that looks at the cancel flag itself may take its time.
bool zn_node_stops_itself(const zn_node *node);

// Adds the room of a whole or windowed value; the next two enlarge the row range of a whole one.
// `reader`, computing rows [0, padded), then finds every row that it asks for.
zenith_status zn_buffer_add(zn_plan *plan, const zn_buffer *made, int *index, zn_error *err);
void zn_buffer_widen(zn_buffer *buffer, zn_rows need);
void zn_buffer_widen_for(zn_buffer *buffer, const zn_node *reader, int64_t padded);
// Bytes by rows.
zenith_status zn_buffer_measure(zn_buffer *buffer, zn_error *err);

zenith_status zn_schedule_add_pass(zn_plan *plan, bool rolling, zn_error *err);

// A work comes about in this order: begin; rows per call; a buffer; inputs; count; add.
zn_work zn_work_begin(const zn_plan *plan, const zn_node *node);
// Rows per call so that a call stays short, if its weights allow: at most `limit`, at least 1.
int64_t zn_work_short_call(const zn_plan *plan, const zn_work *work, int64_t limit);
// The buffer of a sequential work: that of input 0, with room for the result's readers, or a new
// one.
zenith_status zn_work_give_buffer(zn_plan *plan, zn_work *work, const zn_buffer *made,
                                  zn_error *err);
// Links a work to the buffers of its inputs, which live at least until `tick`.
void zn_work_link_inputs(zn_plan *plan, zn_work *work, int tick);
// Adds its operations and its time to the plan's.
void zn_work_count(zn_plan *plan, const zn_work *work);
zenith_status zn_work_add(zn_plan *plan, const zn_work *made, zn_error *err);

// --- frames of states (schedule_frames.c)

zenith_status zn_frames_list(zn_plan *plan, zn_error *err);
// Frames that may be late are marked so before anything is scheduled. In planes it is then found
// until when each is there; in bands those that turn out not to be in one pass are marked back, and
// true is returned.
void zn_frames_hope_late(zn_plan *plan);
void zn_frames_time_late(zn_plan *plan);
bool zn_frames_drop_late(zn_plan *plan);

// The frame that a node makes late; NULL: none.
zn_frame *zn_frame_late(const zn_plan *plan, const zn_node *node);
// Whether a value lies in the states, all of it, from when it is made.
bool zn_frame_is_held(const zn_plan *plan, const zn_node *node);
bool zn_frame_is_of(const zn_node *node, const char *state);

// --- rolling

typedef struct zn_rolling {
    zn_plan *plan;
    bool *needed;  // by id: computed in this pass
    bool *stored;  // by id: to be held whole when computed
    int64_t *skew; // by id
    int *spilled;  // by id: 1 + the spill that has it, or 0
    bool *spill;   // by id: to be written to the spill file when computed
    int64_t times; // the length of this pass's rounds, in bands
    int pass;      // its number, of those that end at barriers and the last
} zn_rolling;

// schedule_rolling.c. *found false: cuts cannot be kept within the plan's limit.
zenith_status zn_schedule_rolling(zn_plan *plan, bool *found, zn_error *err);
int64_t zn_rolling_chunk(const zn_rolling *r, const zn_node *node);

// schedule_cuts.c: marks what a pass shall leave, and settles after it what it left.
void zn_rolling_mark_cuts(zn_rolling *r);
void zn_rolling_settle_cuts(zn_rolling *r);
bool zn_rolling_is_cut(const zn_rolling *r, const zn_node *node);
// A value that will be held slides over one of its kind that will not be any more.
void zn_rolling_slide_over(const zn_rolling *r, const zn_work *work);
// Rows that the spill file has are read from it, and those that it shall have are written to it.
zenith_status zn_rolling_link_spill(zn_rolling *r, zn_work *work, zn_error *err);

// schedule_steps.c: rows per call, groups and rings of the works from `first` on.
void zn_schedule_steps(zn_plan *plan, int first);

#endif
