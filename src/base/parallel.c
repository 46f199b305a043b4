// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Both backends run the same function on every thread of the team: it takes tiles, each by setting
// a bit, until there are no more. So a slow thread takes fewer, and whoever comes late or never (a
// host may limit OpenMP's threads) is not missed. A thread begins with the tile of its own number:
// what it wrote in the loop before is then still in its cache. (More than 64 tiles are numbers from
// a counter.) The backends differ only in how the threads are woken and waited for.
#include "src/base/parallel.h"

#include "src/base/denormals.h"
#include "src/base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct loop {
    zn_parallel_fn *fn;
    void *arg;
    size_t count, tile, tiles;
    atomic_size_t next;
    atomic_uint_least64_t taken; // a bit for each of up to BITS tiles
    bool flush;                  // denormals, as the caller does
};
enum { BITS = 64 };

static void run_tile(const struct loop *loop, size_t number)
{
    size_t begin = number * loop->tile;
    size_t left = loop->count - begin;
    loop->fn(loop->arg, begin, begin + (left < loop->tile ? left : loop->tile));
}

static void run_numbered(struct loop *loop, size_t thread)
{
    for (size_t i = 0; i < loop->tiles; i++) {
        const size_t number = (thread + i) % loop->tiles;
        const uint64_t bit = (uint64_t)1 << number;
        if (atomic_fetch_or_explicit(&loop->taken, bit, memory_order_relaxed) & bit) continue;
        run_tile(loop, number);
    }
}

static void run_tiles(struct loop *loop, size_t thread)
{
    if (zn_denormals_flushed() != loop->flush) zn_denormals_flush(loop->flush);
    if (loop->tiles <= BITS) {
        run_numbered(loop, thread);
        return;
    }
    while (true) {
        size_t number = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed);
        if (number >= loop->tiles) return;
        run_tile(loop, number);
    }
}

static zenith_status check_threads(int threads, zn_error *err)
{
    if (threads >= 1) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "a team needs at least one thread, not %d",
                   threads);
}

#ifdef ZENITH_OPENMP

struct zn_team {
    int threads;
};

#ifdef __clang__
// clang turns the pragma into calls of its own runtime, which would be a second pool beside the one
// that oneDNN uses (libgomp). These two are libgomp's interface; GCC makes the same call.
void GOMP_parallel(void (*run)(void *), void *arg, unsigned threads, unsigned flags);
void omp_set_num_threads(int threads);
int omp_get_thread_num(void);

static void run_on_thread(void *loop)
{
    run_tiles(loop, (size_t)omp_get_thread_num());
}

static void on_all_threads(const zn_team *team, struct loop *loop)
{
    GOMP_parallel(run_on_thread, loop, (unsigned)team->threads, 0);
}
#else
#include <omp.h>

static void on_all_threads(const zn_team *team, struct loop *loop)
{
#pragma omp parallel num_threads(team->threads)
    run_tiles(loop, (size_t)omp_get_thread_num());
}
#endif

zenith_status zn_team_create(int threads, zn_team **out, zn_error *err)
{
    ZN_TRY(check_threads(threads, err));
    zn_team *team = zn_alloc_zero(sizeof *team);
    if (!team) return zn_fail_memory(err, sizeof *team);
    team->threads = threads;
    // This is the calling thread's own setting: oneDNN, called on this thread, takes it too.
    omp_set_num_threads(threads);
    *out = team;
    return ZENITH_OK;
}

// libgomp's pool belongs to the calling thread and ends with it.
void zn_team_free(zn_team *team)
{
    zn_free(team);
}

#else

#include "src/base/os.h"

// The caller is one of the team's threads; the others wait for `round` to change.
struct zn_team {
    int threads;
    zn_mutex *lock;
    zn_condition *changed; // for the workers: a new round, or the end
    zn_condition *done;    // for the caller: no worker is in the round any more
    struct loop *loop;
    uint64_t round;
    int working;
    int numbered; // workers that have a number: 1 and up; the caller's is 0
    bool ending;
    zn_thread *worker[]; // threads - 1; NULL: not started
};

static void worker_main(void *arg)
{
    zn_team *team = arg;
    uint64_t seen = 0;
    zn_mutex_lock(team->lock);
    const size_t number = (size_t)++team->numbered;
    while (true) {
        while (team->round == seen && !team->ending) zn_condition_wait(team->changed, team->lock);
        if (team->ending) break;
        seen = team->round;
        zn_mutex_unlock(team->lock);
        run_tiles(team->loop, number);
        zn_mutex_lock(team->lock);
        if (--team->working == 0) zn_condition_wake_all(team->done);
    }
    zn_mutex_unlock(team->lock);
}

static void on_all_threads(zn_team *team, struct loop *loop)
{
    zn_mutex_lock(team->lock);
    team->loop = loop;
    team->working = team->threads - 1;
    team->round++;
    zn_condition_wake_all(team->changed);
    zn_mutex_unlock(team->lock);
    run_tiles(loop, 0);
    zn_mutex_lock(team->lock);
    while (team->working > 0) zn_condition_wait(team->done, team->lock);
    zn_mutex_unlock(team->lock);
}

static zenith_status start_workers(zn_team *team, zn_error *err)
{
    ZN_TRY(zn_mutex_create(&team->lock, err));
    ZN_TRY(zn_condition_create(&team->changed, err));
    ZN_TRY(zn_condition_create(&team->done, err));
    for (int i = 0; i < team->threads - 1; i++) {
        ZN_TRY(zn_thread_start(worker_main, team, &team->worker[i], err));
    }
    return ZENITH_OK;
}

zenith_status zn_team_create(int threads, zn_team **out, zn_error *err)
{
    ZN_TRY(check_threads(threads, err));
    size_t bytes;
    if (!zn_mul_size((size_t)threads - 1, sizeof(zn_thread *), &bytes) ||
        !zn_add_size(bytes, sizeof(zn_team), &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    zn_team *team = zn_alloc_zero(bytes);
    if (!team) return zn_fail_memory(err, bytes);
    team->threads = threads;
    zenith_status status;
    ZN_GO(start_workers(team, err));
    *out = team;
    return ZENITH_OK;
fail:
    zn_team_free(team);
    return status;
}

void zn_team_free(zn_team *team)
{
    if (!team) return;
    if (team->lock && team->changed) {
        zn_mutex_lock(team->lock);
        team->ending = true;
        zn_condition_wake_all(team->changed);
        zn_mutex_unlock(team->lock);
    }
    for (int i = 0; i < team->threads - 1; i++) zn_thread_join(team->worker[i]);
    zn_condition_free(team->done);
    zn_condition_free(team->changed);
    zn_mutex_free(team->lock);
    zn_free(team);
}

#endif

int zn_team_threads(const zn_team *team)
{
    return team ? team->threads : 1;
}

void zn_team_flush_denormals(zn_team *team, bool on)
{
    struct loop nothing = {.flush = on};
    zn_denormals_flush(on);
    if (zn_team_threads(team) > 1) on_all_threads(team, &nothing);
}

void zn_parallel(zn_team *team, size_t count, size_t tile, zn_parallel_fn *fn, void *arg)
{
    if (tile == 0) tile = 1;
    struct loop loop = {
        .fn = fn, .arg = arg, .count = count, .tile = tile, .flush = zn_denormals_flushed()};
    loop.tiles = count / tile + (count % tile > 0);
    if (loop.tiles > 1 && zn_team_threads(team) > 1) {
        on_all_threads(team, &loop);
    } else {
        for (size_t i = 0; i < loop.tiles; i++) run_tile(&loop, i);
    }
}
