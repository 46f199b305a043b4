// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// MPI, where the program was started by it (mpirun); otherwise one process, without a word to MPI.
// A run that fails leaves MPI as it is: its launcher then ends the
// other processes, which would wait for this one.
//
// A sum is made in two exchanges of as many bytes as the block has: rank j gets everyone's part j
// and adds these up in the order of the ranks, then everyone gets the sums of all parts.
#include "src/ranks/ranks.h"

#include "src/base/memory.h"
#include "src/base/os.h"

#include <limits.h>
#include <mpi.h>

enum { MOST_RANKS = 1024 };

static zenith_status check(int code, const char *what, zn_error *err)
{
    if (code == MPI_SUCCESS) return ZENITH_OK;
    return zn_fail(err, ZENITH_IO, "MPI could not %s (error %d)", what, code);
}

zenith_status zn_ranks_open(zn_ranks *out, zn_error *err)
{
    zn_ranks ranks = {.rank = 0, .count = 1};
    int there = 0, over = 0, level = 0;
    if (zn_environment("OMPI_COMM_WORLD_SIZE") || zn_environment("PMI_SIZE")) {
        MPI_Initialized(&there);
        MPI_Finalized(&over);
        if (over)
            return zn_fail(err, ZENITH_UNSUPPORTED, "MPI was ended: one run for each process");
        if (!there)
            ZN_TRY(check(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level), "start", err));
        ranks.started = true;
        MPI_Query_thread(&level);
        if (level < MPI_THREAD_SERIALIZED)
            return zn_fail(err, ZENITH_UNSUPPORTED,
                           "this MPI takes calls from one thread only: use one that was built with "
                           "support for threads");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
        if (ranks.count > MOST_RANKS)
            return zn_fail(err, ZENITH_LIMIT, "%d processes are more than %d", ranks.count,
                           MOST_RANKS);
    }
    *out = ranks;
    return ZENITH_OK;
}

void zn_ranks_close(zn_ranks *ranks, bool well)
{
    if (ranks->started && well) MPI_Finalize();
    zn_free(ranks->others);
    *ranks = (zn_ranks){0};
}

static zenith_status reserve(zn_ranks *ranks, size_t elements, zn_error *err)
{
    if (ranks->room >= elements) return ZENITH_OK;
    zn_free(ranks->others);
    ranks->room = 0;
    ranks->others = zn_alloc(elements * sizeof(float));
    if (!ranks->others) return zn_fail_memory(err, elements * sizeof(float));
    ranks->room = elements;
    return ZENITH_OK;
}

zenith_status zn_ranks_sum(zn_ranks *ranks, float *values, size_t count, zn_error *err)
{
    int sizes[MOST_RANKS], begins[MOST_RANKS], same[MOST_RANKS], places[MOST_RANKS];
    const int n = ranks->count, own = ranks->rank;
    if (n == 1) return ZENITH_OK;
    if (count > INT_MAX)
        return zn_fail(err, ZENITH_LIMIT, "%zu numbers are too many for MPI", count);
    const int part = (int)(count / (size_t)n) + 1;
    ZN_TRY(reserve(ranks, (size_t)part * (size_t)n, err));
    for (int i = 0; i < n; i++) {
        int64_t begin = (int64_t)part * i;
        begins[i] = begin < (int64_t)count ? (int)begin : (int)count;
        sizes[i] = (int)count - begins[i] < part ? (int)count - begins[i] : part;
    }
    for (int i = 0; i < n; i++) {
        same[i] = sizes[own];
        places[i] = i * sizes[own];
    }
    ZN_TRY(check(MPI_Alltoallv(values, sizes, begins, MPI_FLOAT, ranks->others, same, places,
                               MPI_FLOAT, MPI_COMM_WORLD),
                 "send numbers", err));
    float *sum = values + begins[own];
    for (int k = 0; k < sizes[own]; k++) sum[k] = ranks->others[k];
    for (int i = 1; i < n; i++)
        for (int k = 0; k < sizes[own]; k++) sum[k] += ranks->others[places[i] + k];
    return check(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_FLOAT, values, sizes, begins, MPI_FLOAT,
                                MPI_COMM_WORLD),
                 "collect numbers", err);
}

zenith_status zn_ranks_spread(zn_ranks *ranks, void *data, size_t bytes, zn_error *err)
{
    if (ranks->count == 1) return ZENITH_OK;
    if (bytes > INT_MAX) return zn_fail(err, ZENITH_LIMIT, "%zu bytes are too many for MPI", bytes);
    return check(MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD), "spread numbers", err);
}

zenith_status zn_ranks_agree(zn_ranks *ranks, int *stop, zn_error *err)
{
    if (ranks->count == 1) return ZENITH_OK;
    return check(MPI_Allreduce(MPI_IN_PLACE, stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), "agree",
                 err);
}
