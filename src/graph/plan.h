// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A plan: a graph compiled for one picture size, machine and memory budget. It knows the exact
// bytes it needs before it runs, and runs without allocating.
//
// Two ways to run the same lowerings, with the same bits:
//
//   planes   node by node: each value is a whole map, its memory reused after the last reader.
//   rolling  chunk by chunk: in round k every node computes its next few rows from windows of its
//            inputs, and a window keeps only the rows that readers still need. No row is ever
//            computed twice, and memory grows with the width alone.
//
//     round k   input    ......[ c rows ]    rows k*c .. k*c + c
//               conv 1   .....[ c rows ]     one row behind its input (its halo)
//               conv 2   ....[ c rows ]      two rows behind
//               output   ...[ c rows ]       three rows behind; handed to the caller
//
// Within a round the nodes of one resolution take turns, a call each, so that a few rows go through
// all of them while they are in the cache.
//
// Rows above the first and below the last are zero: they are the vertical padding. A round whose
// chunk lies partly outside computes the whole chunk (one shape of call for all rounds) and zeroes
// the rest.
//
// Barriers (a value that needs all rows of another, such as the statistics of a group norm) divide
// a rolling run into passes. What a later pass needs again is held whole where the budget allows;
// otherwise it is computed again, or written to a spill file and read row by row, whichever is
// cheaper (cuts.h).
//
// Frames of states lie outside the arena (states.h). What is pushed is written where later runs
// read it, by the first pass that can compute it, and later passes read it there.
#ifndef ZN_GRAPH_PLAN_H
#define ZN_GRAPH_PLAN_H

#include "src/graph/op.h"

#include <stdatomic.h>

typedef struct zn_plan zn_plan;

typedef enum zn_plan_mode { ZN_PLAN_AUTO = 0, ZN_PLAN_PLANES, ZN_PLAN_ROLLING } zn_plan_mode;

// The least that a graph can be computed in, where a budget was too small: exact, scratch included.
typedef struct zn_plan_needs {
    size_t bytes;         // of the arena, without a spill file; 0: not known
    size_t spilled_bytes; // of the arena, with a spill file of spill_bytes
    size_t spill_bytes;   // 0: a spill file would not help
} zn_plan_needs;

typedef struct zn_plan_options {
    zn_plan_mode mode;
    int64_t band;         // rolling: rows of the lowest map per round; 0 = chosen
    size_t max_bytes;     // budget for the arena; 0 = none
    bool spill;           // runs will have a spill file
    zn_plan_needs *needs; // filled after ZENITH_LIMIT, if not NULL
    bool keep_everything; // planes: no memory is reused; an observer can read every value late
    // Frames of states are written over those that nobody reads any more (plan_parts.h). It takes
    // fewer bytes of states, and a run that is stopped or fails spoils them.
    bool late_frames;
    zn_cpu cpu;
    int threads;
    struct zn_dnn *dnn;
    struct zn_packs *packs;
    size_t max_packed;        // bytes that all of them may take, else ZENITH_LIMIT; 0: no bound
    zn_team *team;            // packs weights; NULL: the caller's thread alone does
    const atomic_int *cancel; // not zero: compiling stops, ZENITH_CANCELLED; NULL: never
} zn_plan_options;

// The graph must outlive the plan. ZENITH_LIMIT with the bytes it would need where no choice fits.
zenith_status zn_plan_create(const zn_graph *graph, const zn_plan_options *options, zn_plan **out,
                             zn_error *err);
void zn_plan_free(zn_plan *plan);

// After parameters have changed and zn_packs_refresh was told: every lowering that reads one is
// made again, so none can keep an old copy. On the thread that the plan runs on, and not during a
// run. After a failure the plan is still whole, but old in parts.
zenith_status zn_plan_refresh(zn_plan *plan, zn_error *err);

size_t zn_plan_bytes(const zn_plan *plan); // arena
zn_plan_mode zn_plan_chosen_mode(const zn_plan *plan);
int64_t zn_plan_band(const zn_plan *plan); // 0 for planes
bool zn_plan_rewinds(const zn_plan *plan); // reads its inputs more than once
bool zn_plan_spoils(const zn_plan *plan);  // states, where a run of it is stopped
// No larger budget would have given another plan.
bool zn_plan_preferred(const zn_plan *plan);
// For want of memory it computes something again, or spills it.
bool zn_plan_compromises(const zn_plan *plan);
// Of its own tables; what lowerings hold (code made by oneDNN) is not counted.
size_t zn_plan_table_bytes(const zn_plan *plan);
size_t zn_plan_lowerings(const zn_plan *plan);   // how many
double zn_plan_flops(const zn_plan *plan);       // what is computed again counts again
size_t zn_plan_spill_bytes(const zn_plan *plan); // of the file that a run needs; 0: none

// How a run meets the world. Inputs and outputs are in the order of the graph's; rows are dense
// NHWC of the value's type. Calls come from the thread that runs the plan, rows in increasing order
// (an input is read from row 0 again by each pass that needs it).
typedef struct zn_run {
    zenith_status (*read)(void *cookie, int input, int64_t row, int64_t count, void *dst,
                          zn_error *err);
    zenith_status (*write)(void *cookie, int output, int64_t row, int64_t count, const void *src,
                           zn_error *err);
    void *cookie;
    const float *scalars; // one per ZN_NODE_SCALAR, in order
    // Of graphs with states: made for this plan (states.h), in one run at a time. They are advanced
    // at the end of a whole run, and as they were after any other.
    struct zn_states *states;
    struct zn_spill *spill;   // of at least zn_plan_spill_bytes; NULL if that is 0
    const atomic_int *cancel; // not zero: stop soon, ZENITH_CANCELLED; NULL: never
    // Fraction of the work done, 0 .. 1; not zero stops the run. May be NULL.
    int (*progress)(void *cookie, double fraction);
    // Sees each computed map, rows in order, as they are made. May be NULL.
    void (*observe)(void *cookie, const zn_node *node, int64_t row, int64_t count,
                    const void *data);
} zn_run;

// arena: zn_plan_bytes(plan) bytes aligned to ZN_ALIGN. team: this thread's own, as large as the
// plan's number of threads.
zenith_status zn_plan_run(const zn_plan *plan, void *arena, zn_team *team, const zn_run *run,
                          zn_error *err);

#endif
