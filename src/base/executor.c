// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A job lives in its caller's memory, on the stack where the caller waits until it is done, so the
// queue needs no memory of its own and handing over cannot fail. One lock guards everything below
// `lock`.
//
//     first -> task -> task -> NULL      by priority, then oldest first; taken by whichever stream
//                                        is free, done is told to all callers
#include "src/base/executor.h"

#include "src/base/denormals.h"
#include "src/base/memory.h"
#include "src/base/os.h"

typedef struct stream {
    zn_executor *executor;
    zn_thread *thread; // NULL: not started
    zn_team *team;     // written and read on the thread
    int number;
} stream;

struct zn_executor {
    uint64_t process; // whose threads these are
    int streams, threads;
    zn_mutex *lock;
    zn_condition *changed; // for the streams: a job is there, or it is time to end
    zn_condition *done;    // for callers: a job has ended, or a stream has come up
    zn_task *first;
    bool ending;
    int running;          // jobs
    int held;             // by zn_executor_hold: no stream takes a job
    int ready;            // streams that have come up, with a team or without
    zenith_status status; // of the first team that could not be made
    zn_error error;
    stream stream[];
};

static bool forked(const zn_executor *executor)
{
    return executor->process != zn_process_id();
}

static zn_task *take(zn_executor *executor)
{
    while ((!executor->first || executor->held > 0) && !executor->ending) {
        zn_condition_wait(executor->changed, executor->lock);
    }
    zn_task *taken = executor->first;
    if (!taken) return NULL;
    executor->first = taken->next;
    executor->running++;
    return taken;
}

static void run_jobs(zn_executor *executor, zn_team *team, int number)
{
    zn_mutex_lock(executor->lock);
    for (zn_task *taken = take(executor); taken; taken = take(executor)) {
        const bool waited_for = taken->waited_for;
        zn_mutex_unlock(executor->lock);
        zenith_status status = taken->run(taken->arg, team, number);
        zn_mutex_lock(executor->lock);
        executor->running--;
        if (waited_for) {
            taken->status = status;
            taken->done = true; // from here on the caller may take the job's memory away
        }
        zn_condition_wake_all(executor->done);
    }
    zn_mutex_unlock(executor->lock);
}

static void stream_main(void *arg)
{
    stream *self = arg;
    zn_executor *executor = self->executor;
    zn_team *team = NULL;
    zn_error error = {0};
    zn_denormals_flush(
        false); // whatever the thread that made this one does: bits must not depend on it
    zenith_status status = zn_team_create(executor->threads, &team, &error);
    zn_mutex_lock(executor->lock);
    executor->ready++;
    if (status != ZENITH_OK && executor->status == ZENITH_OK) {
        executor->status = status;
        executor->error = error;
    }
    zn_condition_wake_all(executor->done);
    zn_mutex_unlock(executor->lock);
    if (status != ZENITH_OK) return;
    self->team = team;
    run_jobs(executor, team, self->number);
    zn_team_free(team);
}

static zenith_status start(zn_executor *executor, zn_error *err)
{
    ZN_TRY(zn_mutex_create(&executor->lock, err));
    ZN_TRY(zn_condition_create(&executor->changed, err));
    ZN_TRY(zn_condition_create(&executor->done, err));
    for (int i = 0; i < executor->streams; i++) {
        stream *each = &executor->stream[i];
        *each = (stream){.executor = executor, .number = i};
        ZN_TRY(zn_thread_start(stream_main, each, &each->thread, err));
    }
    zn_mutex_lock(executor->lock);
    while (executor->ready < executor->streams) zn_condition_wait(executor->done, executor->lock);
    zn_mutex_unlock(executor->lock);
    if (executor->status == ZENITH_OK) return ZENITH_OK;
    return zn_fail(err, executor->status, "%s", executor->error.text);
}

zenith_status zn_executor_create(int streams, int threads, zn_executor **out, zn_error *err)
{
    if (streams < 1 || threads < 1) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "an executor needs at least one stream and one thread, not %d and %d",
                       streams, threads);
    }
    size_t bytes;
    if (!zn_mul_size((size_t)streams, sizeof(stream), &bytes) ||
        !zn_add_size(bytes, sizeof(zn_executor), &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    zn_executor *executor = zn_alloc_zero(bytes);
    if (!executor) return zn_fail_memory(err, bytes);
    executor->process = zn_process_id();
    executor->streams = streams;
    executor->threads = threads;
    zenith_status status;
    ZN_GO(start(executor, err));
    *out = executor;
    return ZENITH_OK;
fail:
    zn_executor_free(executor);
    return status;
}

// Takes all waiting tasks off the queue: callers that wait for theirs are told here, and the others
// are returned as a list.
static zn_task *empty_queue(zn_executor *executor)
{
    zn_task *others = NULL, **end = &others;
    zn_mutex_lock(executor->lock);
    for (zn_task *next, *each = executor->first; each; each = next) {
        next = each->next;
        if (each->waited_for) {
            each->status = ZENITH_CANCELLED;
            each->done = true; // from here on the caller may take the job's memory away
        } else {
            *end = each;
            end = &each->next;
        }
    }
    *end = NULL;
    if (executor->first) zn_condition_wake_all(executor->done); // it may not have been made yet
    executor->first = NULL;
    zn_mutex_unlock(executor->lock);
    return others;
}

// With the lock free, since `drop` may take locks of its own.
static void drop_tasks(zn_executor *executor)
{
    for (zn_task *next, *each = empty_queue(executor); each; each = next) {
        next = each->next;
        each->drop(each->arg);
    }
}

void zn_executor_end(zn_executor *executor)
{
    if (forked(executor)) return;
    zn_executor_hold(executor);
    drop_tasks(executor);
}

void zn_executor_free(zn_executor *executor)
{
    if (!executor) return;
    // A forked child has this memory but not the threads, and perhaps a lock that one of them held:
    // there the lock is left alone, and what follows only frees.
    if (executor->lock && executor->changed && !forked(executor)) {
        drop_tasks(executor);
        zn_mutex_lock(executor->lock);
        executor->ending = true;
        zn_condition_wake_all(executor->changed);
        zn_mutex_unlock(executor->lock);
    }
    for (int i = 0; i < executor->streams; i++) zn_thread_join(executor->stream[i].thread);
    zn_condition_free(executor->done);
    zn_condition_free(executor->changed);
    zn_mutex_free(executor->lock);
    zn_free(executor);
}

// --- the queue ----------------------------------------------------------------------------------

static zenith_status check_fork(const zn_executor *executor, zn_error *err)
{
    if (!forked(executor)) return ZENITH_OK;
    return zn_fail(err, ZENITH_FORKED,
                   "this process was forked after the context was made, and threads do not "
                   "survive a fork: make a new context in the child");
}

static void hand_over(zn_executor *executor, zn_task *handed)
{
    zn_task **link = &executor->first;
    while (*link && (*link)->priority >= handed->priority) link = &(*link)->next;
    handed->next = *link;
    *link = handed;
}

zenith_status zn_executor_submit(zn_executor *executor, zn_task *task, zn_error *err)
{
    ZN_TRY(check_fork(executor, err));
    zn_mutex_lock(executor->lock);
    hand_over(executor, task);
    zn_condition_wake_all(executor->changed);
    zn_mutex_unlock(executor->lock);
    return ZENITH_OK;
}

bool zn_executor_withdraw(zn_executor *executor, const zn_task *task)
{
    if (forked(executor)) return false;
    zn_mutex_lock(executor->lock);
    zn_task **link = &executor->first;
    while (*link && *link != task) link = &(*link)->next;
    const bool found = *link != NULL;
    if (found) *link = task->next;
    zn_mutex_unlock(executor->lock);
    return found;
}

int zn_executor_position(zn_executor *executor, const zn_task *task)
{
    if (forked(executor)) return -1;
    int before = 0;
    zn_mutex_lock(executor->lock);
    const zn_task *each = executor->first;
    for (; each && each != task; each = each->next) before++;
    zn_mutex_unlock(executor->lock);
    return each ? before : -1;
}

void zn_executor_hold(zn_executor *executor)
{
    if (forked(executor)) return;
    zn_mutex_lock(executor->lock);
    executor->held++;
    while (executor->running > 0) zn_condition_wait(executor->done, executor->lock);
    zn_mutex_unlock(executor->lock);
}

void zn_executor_release(zn_executor *executor)
{
    if (forked(executor)) return;
    zn_mutex_lock(executor->lock);
    executor->held--;
    zn_condition_wake_all(executor->changed);
    zn_mutex_unlock(executor->lock);
}

static zenith_status run_and_wait(zn_executor *executor, zn_task *tasks, int count)
{
    zenith_status status = ZENITH_OK;
    zn_mutex_lock(executor->lock);
    for (int i = 0; i < count; i++) hand_over(executor, &tasks[i]);
    zn_condition_wake_all(executor->changed);
    for (int i = 0; i < count; i++) {
        while (!tasks[i].done) zn_condition_wait(executor->done, executor->lock);
        if (status == ZENITH_OK) status = tasks[i].status;
    }
    zn_mutex_unlock(executor->lock);
    return status;
}

zenith_status zn_executor_run(zn_executor *executor, zn_job_fn *run, void *arg, int count,
                              zn_error *err)
{
    ZN_TRY(check_fork(executor, err));
    zn_task one = {.run = run, .arg = arg, .waited_for = true};
    if (count <= 1) return run_and_wait(executor, &one, 1);
    zn_task *tasks = zn_alloc((size_t)count * sizeof *tasks);
    if (!tasks) return zn_fail_memory(err, (size_t)count * sizeof *tasks);
    for (int i = 0; i < count; i++) tasks[i] = one;
    zenith_status status = run_and_wait(executor, tasks, count);
    zn_free(tasks);
    return status;
}

zn_team *zn_executor_team(const zn_executor *executor, int number)
{
    return executor->stream[number].team;
}

int zn_executor_threads(const zn_executor *executor)
{
    return executor->threads;
}

int zn_executor_streams(const zn_executor *executor)
{
    return executor->streams;
}

int zn_executor_waiting(zn_executor *executor)
{
    if (forked(executor)) return 0;
    int count = 0;
    zn_mutex_lock(executor->lock);
    for (const zn_task *each = executor->first; each; each = each->next) count++;
    zn_mutex_unlock(executor->lock);
    return count;
}
