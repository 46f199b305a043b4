// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Executor: the threads on which all compute runs. A caller hands over a job and waits for its end;
// the executor's own thread runs it with its own team. Reasons: OpenMP keeps one pool per calling
// thread (eight host threads with a team of two made seventeen threads), its thread count is a
// setting of the host that we must not touch, and a pool does not survive fork.
//
// Invariants
//   1. A job runs on exactly one executor thread, from start to end.
//   2. With several streams, jobs start in the order in which they were handed over.
//   3. In a forked child every call returns ZENITH_FORKED and touches no lock.
#ifndef ZN_BASE_EXECUTOR_H
#define ZN_BASE_EXECUTOR_H

#include "src/base/parallel.h"
#include "src/base/status.h"

typedef struct zn_executor zn_executor;

// Runs on an executor thread; `stream` is its number, 0 .. streams-1. It must not wait for another
// job of the same executor.
typedef zenith_status zn_job_fn(void *arg, zn_team *team, int stream);

zenith_status zn_executor_create(int streams, int threads, zn_executor **out, zn_error *err);
// Waits for the running jobs, ends the threads. In a forked child it only frees. NULL is fine.
void zn_executor_free(zn_executor *executor);

// Hands the job over `count` times (as many as there are streams: each then takes its share of a
// batch) and waits for all. The status of the first one, in that order, that failed. Any number of
// threads may call it.
zenith_status zn_executor_run(zn_executor *executor, zn_job_fn *job, void *arg, int count,
                              zn_error *err);
int zn_executor_threads(const zn_executor *executor);
// The team that a stream's jobs are given: only for them, on their thread.
zn_team *zn_executor_team(const zn_executor *executor, int stream);
int zn_executor_streams(const zn_executor *executor);
int zn_executor_waiting(
    zn_executor *executor); // jobs that no stream has begun; 0 in a forked child

#endif
