// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts: what becomes of values that more than one pass of a rolling run reads. Each is held whole
// in the arena, written to the run's spill file and read from it row by row, or computed again in
// every pass that needs it.
//
// A node's first pass is the one that must compute it at the latest if nothing is computed twice. A
// map that is read in a later pass than its first is a cut, and so is one that is made into a
// larger map: that may be held instead of the larger one, which is then computed again. Inputs and
// results of barriers, frames of states and what is no map are held whole in any case.
#ifndef ZN_GRAPH_CUTS_H
#define ZN_GRAPH_CUTS_H

#include "src/graph/plan_parts.h"

struct zn_cuts {
    int passes; // one more than there are barriers
    int count;
    const zn_node **nodes; // of each cut
    int *first;            // by node id: its first pass
    uint8_t *after;        // [pass][cut]: the zn_keep of the cut after the pass
};

// The cuts of plan->graph, in the plan's own arena; after a pass each is kept until its last first
// reader.
zenith_status zn_cuts_list(zn_plan *plan, zn_error *err);

// Fills `after` with one decision for all cuts, or (ZN_KEEP_CHEAPEST) with the cheapest that stays
// within `limit` bytes as far as can be told before buffers have places. False: there is none.
zenith_status zn_cuts_decide(zn_plan *plan, zn_keep keep, size_t limit, bool *found, zn_error *err);

// May a value slide over another (plan_parts.h)? They have one shape and type.
bool zn_cuts_slide(const zn_node *old, const zn_node *made);

// What computing one row of a node takes, by careful guess, in a round of `chunk` rows; what
// writing or reading bytes of the spill file takes. In seconds.
double zn_row_seconds(const zn_plan *plan, const zn_node *node, int64_t chunk);
double zn_spill_write_seconds(size_t bytes);
double zn_spill_read_seconds(size_t bytes);

#endif
