// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A guard against numbers that grow beyond what their type holds. A run that it watches ends at the
// first NaN or infinity in a value that it looks at, with ZENITH_OVERFLOW.
//
// It looks at few values. Operators keep NaN, and infinities become NaN or stay, so what goes wrong
// anywhere is seen where it would be lost: in results, in maps that are read by an operator which
// rounds to 8 bits, and, because it is early and costs nothing, in the statistics of norms.
#ifndef ZN_TASK_ENGINE_GUARD_H
#define ZN_TASK_ENGINE_GUARD_H

#include "src/base/parallel.h"
#include "src/graph/plan.h"
#include "zenith/zenith.h"

typedef struct zn_guard {
    const bool *watched; // by a node's id, of zn_guard_marks
    zenith_dtype dtype;  // of the run, for the sentence
    zn_team *team;
    const zn_node *found; // the first with a number that is not finite; NULL: none yet
} zn_guard;

const char *zn_dtype_name(zenith_dtype dtype); // "f32", "bf16", "int8"

// Which of a graph's values to look at; to be freed. NULL: no memory.
bool *zn_guard_marks(const zn_graph *graph);

// The part of zn_run.observe.
void zn_guard_look(zn_guard *guard, const zn_node *node, int64_t count, const void *data);

// For zn_run.write, before rows are handed on: ZENITH_OVERFLOW after something was found.
zenith_status zn_guard_check(const zn_guard *guard, zn_error *err);

#endif
