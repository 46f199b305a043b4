// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// States: what networks over time keep from run to run, such as the last two frames that a causal
// convolution read. A state is a ring of frames with a name. A run writes what it pushes into the
// next slots, while it reads earlier frames in theirs; then the ring turns. No frame is ever
// copied.
//
//     run t     [ t-2 ][ t-1 ][ t   ]      reads ages 2 and 1, writes the third slot
//     run t+1   [ t+1 ][ t-1 ][ t   ]      writes over the frame that nobody wants any more
//
// Several plans share states by their names: that of the first frame and that of the next ones,
// which may be other graphs; also in planes and in bands. A frame has zero rows above and below the
// map, as many as the greediest of the plans asks for.
//
// Where plans were made with late_frames, what a run pushes takes the slots of frames that it has
// read:
//
//     run t     [ t-2 ][ t-1 ]             row by row, frame t over t-2
//
// Bytes do not depend on how many runs there are.
#ifndef ZN_GRAPH_STATES_H
#define ZN_GRAPH_STATES_H

#include "src/graph/plan.h"

typedef struct zn_states zn_states;

// The bytes that zn_states_create will take for these plans, without the few of its table.
zenith_status zn_states_measure(const zn_plan *const *plans, size_t count, size_t *bytes,
                                zn_error *err);

// States for all of these plans, zero. They do not refer to the plans afterwards: a plan that is
// made again for the same graph and options fits. Fails where two plans disagree on shape or type.
zenith_status zn_states_create(const zn_plan *const *plans, size_t count, zn_states **out,
                               zn_error *err);
void zn_states_free(zn_states *states);  // NULL is fine
void zn_states_reset(zn_states *states); // zero again: the next run is of a first frame
size_t zn_states_bytes(const zn_states *states);

// Row 0 of a frame between runs, age 1 the newest; NULL where there is no such frame. Of age 0:
// where the next run writes its first push.
const void *zn_states_frame(const zn_states *states, const char *name, int age);

#endif
