// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The inside of a plan, shared by the files that make it (schedule*.c, cuts.c, placement.c, plan.c)
// and the one that runs it (run.c).
//
//     plan = passes, one after the other
//     pass = works; sequential: each work does all its rows, then the next (planes, barriers)
//                   rolling:    in round k each work does its chunk k
//     work = one node: where its rows go, where its inputs are, and the lowering that computes them
#ifndef ZN_GRAPH_PLAN_PARTS_H
#define ZN_GRAPH_PLAN_PARTS_H

#include "src/graph/states.h"
#include "src/kernel/kernels.h"

// A value in memory for part of a run.
//   whole:  holds rows [first_row, first_row + rows), zero rows above and below the map included
//   window: in round k holds rows [k*chunk - skew - keep, k*chunk - skew + chunk)
//   ring:   a window of fewer rows: row r is at place r modulo rows
// A frame of a state is whole, and lies in the states of the run instead of the arena.
//
// A whole value may slide over another of its shape, which is read for the last time in the pass
// that makes it: row by row it takes the place of rows that nobody will ask for again.
//
//     bytes ->   [ v: made so far ][ gap ][ u: not yet read for the last time ]
typedef struct zn_buffer {
    const zn_node *node;
    bool window, ring;
    bool late; // a window of which a state's frame is copied
    int frame; // of a state: 1 + its index in plan->frames; 0: in the arena
    int64_t first_row, rows;
    int64_t chunk, skew, keep; // of a window
    size_t row_bytes;          // of what is no map: all its bytes, in one row
    int over, under;      // 1 + index of the buffer that it slides over, that slides over it; or 0
    int64_t gap;          // bytes by which its row 0 lies before that of `over`
    int born, dies;       // ticks of the plan's clock between which the memory is its own
    size_t offset, bytes; // in the arena
} zn_buffer;

// What becomes of a value that later passes read again (cuts.h).
typedef enum zn_keep {
    ZN_KEEP_NOT = 0, // it is computed again
    ZN_KEEP_WHOLE,   // it is held in the arena
    ZN_KEEP_SPILLED, // it is written to the spill file
    ZN_KEEP_CHEAPEST // of all cuts together: for each what makes the cheapest plan
} zn_keep;

typedef struct zn_work {
    const zn_node *node;
    // NULL for a leaf of the graph (an input, a state or a scalar), and for what the spill file has
    zn_lowering *lowering;
    int64_t height;            // rows of the result; 1 for what is no map
    int64_t chunk, skew;       // in round k: rows [k*chunk - skew, +chunk); sequential: skew 0
    int64_t call_rows;         // rows of one call; divides chunk
    int group;                 // works of a group take turns, a call each
    bool in_place;             // the result's buffer is that of input 0
    int buffer;                // index of the result's
    int inputs[ZN_MAX_INPUTS]; // indices of the inputs' buffers, or -1
    int leaf_index;            // of a leaf: its number among those of its kind
    int output_index;          // of an output of the graph: its number, else -1
    int loads;                 // 1 + index of the spill that has its rows; 0: they are computed
    int spills;                // 1 + index of the spill that its rows are written to; 0: none
    double flops_per_row;
} zn_work;

// A frame of a state that a plan reads (age 1 is the newest of earlier runs) or writes (0 is the
// first that is pushed, -1 the second): slot (next - age) of the state's ring.
//
// A pushed frame is written where it lies, beside those that the run reads; or late: it is computed
// in the arena, and a row of it is copied over that of an old frame when nobody will read this one
// any more.
//
//     late, in planes    after the last work that reads the state
//     late, in bands     at the end of each round, `lag` rows behind the window's newest chunk
//
// For that all works that read the state or make its frames are in one pass, once.
typedef struct zn_frame {
    const char *state;
    const zn_node *node;
    int age;
    int buffer; // index
    bool late;  // so are all frames of this state in this plan
    bool made;  // while scheduling: a late one that a pass computes
    int pass;   // late and pushed: index; in bands
    int work;   // late and pushed: index; in planes
    int64_t lag;
} zn_frame;

// May these be frames of one state?
static inline bool zn_same_frames(const zn_desc *a, const zn_desc *b)
{
    return a->type == b->type && a->scale == b->scale && zn_shape_equal(&a->shape, &b->shape);
}

// Where a frame lies in a run, with zero rows above and below the map.
typedef struct zn_frame_place {
    uint8_t *first; // row 0
    int64_t above, below;
} zn_frame_place;

typedef struct zn_pass {
    bool rolling;
    int tick; // rolling: the tick of the whole pass; sequential: of the first work
    int64_t rounds;
    int first_work, works_count; // in plan->works
} zn_pass;

struct zn_plan {
    const zn_graph *graph;
    zn_plan_options options; // mode and band as chosen
    zn_kernels kernels;      // for its CPU
    zn_arena arena;          // of the plan's own tables
    zn_pass *passes;
    size_t passes_count, passes_capacity;
    zn_work *works;
    size_t works_count, works_capacity;
    zn_buffer *buffers;
    size_t buffers_count, buffers_capacity;
    zn_frame *frames;
    size_t frames_count;
    int *frame_of; // while scheduling, by node id: 1 + its frame, or 0
    int *current;  // while scheduling, by node id: the buffer that holds it now, or -1
    int *uses;     // by node id: zn_graph_count_uses
    int ticks;
    int64_t lowest; // rolling: the lowest map's height, of which every map's is a multiple
    zn_keep keep;   // rolling with barriers: what becomes of its cuts
    size_t limit;   // of ZN_KEEP_CHEAPEST
    struct zn_cuts *cuts;
    zn_buffer *spills; // whole maps in the spill file: offset, bytes and lives are there
    size_t spills_count, spills_capacity;
    size_t spill_bytes;
    bool stretch; // rolling: longer rounds in passes whose weights are large
    bool rewinds;
    size_t places_offset; // of a zn_frame_place for each frame
    bool preferred;       // the first way that was tried
    size_t scratch_offset, scratch_bytes, bytes;
    double flops;
    double seconds; // a careful guess, to compare plans of one graph by
};

// What the plan asks of a work's operator.
static inline zn_lowering_request zn_plan_request(const zn_plan *plan, const zn_work *work)
{
    return (zn_lowering_request){.node = work->node,
                                 .rows = work->call_rows,
                                 .in_place = work->in_place,
                                 .cpu = plan->options.cpu,
                                 .kernels = &plan->kernels,
                                 .threads = plan->options.threads,
                                 .dnn = plan->options.dnn,
                                 .packs = plan->options.packs,
                                 .team = plan->options.team};
}

// How many rows of a convolution's result one call should make at the least, so that weights which
// do not stay in a core's cache are not read again for every few pixels; 1 where they do.
int64_t zn_rows_for_weights(const zn_node *node, int threads);

// Operations per second that the plan's threads reach at the least.
double zn_plan_assumed_speed(const zn_plan *plan, const zn_node *node);

// Fills passes, works, buffers and spills (without offsets) for options.mode and band, lowest,
// stretch, keep and limit. *found false: there is no schedule within the limit.
zenith_status zn_plan_schedule(zn_plan *plan, bool *found, zn_error *err);

// Gives every buffer, and the scratch, its place in the arena, and every spill its place in the
// file: first fit, largest first.
zenith_status zn_plan_place(zn_plan *plan, zn_error *err);

// Where each frame of the plan lies in this run, or why these states do not fit the plan.
zenith_status zn_states_place(const zn_states *states, const zn_plan *plan, zn_frame_place *places,
                              zn_error *err);
// After a whole run: what it pushed is now of age 1 and more.
void zn_states_advance(zn_states *states, const zn_plan *plan);

#endif
