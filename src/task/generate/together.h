// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Processes that make one picture together: each has a share of every layer of both networks, and
// all have the whole latent after every step. They make the same calls in the same order. What one
// of them may decide (to stop, the seed), all decide together; one that fails ends without a word
// to the others, and the launcher (mpirun) ends them.
#ifndef ZN_TASK_GENERATE_TOGETHER_H
#define ZN_TASK_GENERATE_TOGETHER_H

#include "src/base/share.h"
#include "src/task/generate/generate.h"

typedef struct zn_together zn_together;

// *out is NULL where this process is alone.
zenith_status zn_together_open(zn_together **out, zn_error *err);
// Tells the others that this process makes no more pictures, unless it failed. NULL is fine, in all
// three.
void zn_together_free(zn_together *together);
// This process has failed: it will not wait for the others.
void zn_together_fail(zn_together *together);
const zn_share *zn_together_share(const zn_together *together); // of NULL: NULL

// What is the same in all processes.
typedef struct zn_together_same {
    uint64_t seed;
    zenith_dtype text, transformer; // of each network's products, never the default
} zn_together_same;

// Begins a picture: *same becomes that of the first process, and `cancel` and `stepped` of any
// process stop all. ZENITH_CANCELLED where another process has ended. Nothing happens where
// `together` is NULL, in both.
zenith_status zn_together_enter(zn_together *together, zn_together_same *same, zn_generation *how,
                                zn_error *err);
// Ends it, with the status that the whole had, which is returned.
zenith_status zn_together_leave(zn_together *together, zenith_status status);

#endif
