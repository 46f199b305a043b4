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
//   2. Jobs start by priority, the largest first; those of one priority in the order in which they
//      were handed over. What zn_executor_run hands over has priority 0.
//   3. In a forked child every call returns ZENITH_FORKED and touches no lock.
#ifndef ZN_BASE_EXECUTOR_H
#define ZN_BASE_EXECUTOR_H

#include "src/base/parallel.h"
#include "src/base/status.h"

#include <stdbool.h>

typedef struct zn_executor zn_executor;

// Runs on an executor thread; `stream` is its number, 0 .. streams-1. It must not wait for another
// job of the same executor.
typedef zenith_status zn_job_fn(void *arg, zn_team *team, int stream);

zenith_status zn_executor_create(int streams, int threads, zn_executor **out, zn_error *err);
// Drops waiting tasks, waits for the running jobs, and lets none begin any more.
void zn_executor_end(zn_executor *executor);
// The same, and ends the threads. In a forked child it only frees. NULL is fine.
void zn_executor_free(zn_executor *executor);

// Hands the job over `count` times (as many as there are streams: each then takes its share of a
// batch) and waits for all. The status of the first one, in that order, that failed. Any number of
// threads may call it. ZENITH_CANCELLED, without a sentence, for a job that no stream has begun
// when the executor ends.
zenith_status zn_executor_run(zn_executor *executor, zn_job_fn *job, void *arg, int count,
                              zn_error *err);

// A job that nobody waits for. The memory is the caller's until `run` returns or `drop` was called;
// one of them is, once.
typedef struct zn_task {
    zn_job_fn *run; // its status is not looked at
    void (*drop)(
        void *arg); // the executor ends before a stream took it; from the thread that ends it
    void *arg;
    int priority;
    // The executor's own, from here on.
    struct zn_task *next;
    bool waited_for, done; // by zn_executor_run
    zenith_status status;
} zn_task;
// Returns at once. In a forked child ZENITH_FORKED.
zenith_status zn_executor_submit(zn_executor *executor, zn_task *task, zn_error *err);
// Takes a task back that no stream has begun; false: it is too late. Neither of its functions is
// called.
bool zn_executor_withdraw(zn_executor *executor, const zn_task *task);
// How many jobs are before a task that no stream has begun; -1: one has.
int zn_executor_position(zn_executor *executor, const zn_task *task);

// Waits until no job runs and lets none begin until _release: for what belongs to the streams'
// jobs. Not from a job.
void zn_executor_hold(zn_executor *executor);
void zn_executor_release(zn_executor *executor);

int zn_executor_threads(const zn_executor *executor);
// The team that a stream's jobs are given: only for them, on their thread.
zn_team *zn_executor_team(const zn_executor *executor, int stream);
int zn_executor_streams(const zn_executor *executor);
int zn_executor_waiting(
    zn_executor *executor); // jobs that no stream has begun; 0 in a forked child

#endif
