// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Several processes that work together: in training each has a part of every batch, in generation a
// part of every layer, and what they have is summed. ranks_mpi.c does it with MPI; ranks_one.c is
// built instead without it and knows one process only. One call at a time, on whichever thread.
#ifndef ZN_RANKS_RANKS_H
#define ZN_RANKS_RANKS_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct zn_ranks {
    int rank, count; // 0 of 1 where there is one process
    bool started;    // MPI, for this run
    float *others;   // room for what the others send
    size_t room;
} zn_ranks;

zenith_status zn_ranks_open(zn_ranks *out, zn_error *err);
// well: the run has come to its end. Zeroes it; a zeroed one is fine.
void zn_ranks_close(zn_ranks *ranks, bool well);

// values[i] = the sum of all ranks' values[i], in the order of the ranks: the same bits everywhere.
zenith_status zn_ranks_sum(zn_ranks *ranks, float *values, size_t count, zn_error *err);
// data becomes that of the first process.
zenith_status zn_ranks_spread(zn_ranks *ranks, void *data, size_t bytes, zn_error *err);
// *stop becomes 1 where any rank has 1.
zenith_status zn_ranks_agree(zn_ranks *ranks, int *stop, zn_error *err);

#endif
