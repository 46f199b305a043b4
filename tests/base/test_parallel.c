// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Every index is visited exactly once, in the tiles of the serial loop, for each size of team.
#include "tests/testing.h"

#include "src/base/denormals.h"
#include "src/base/executor.h"
#include "src/base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct visits {
    atomic_int *seen;
    size_t count, tile;
    atomic_int wrong_tiles, calls;
} visits;

static void visit(void *arg, size_t begin, size_t end)
{
    visits *all = arg;
    size_t last = begin + all->tile < all->count ? begin + all->tile : all->count;
    if (begin % all->tile != 0 || end != last) atomic_fetch_add(&all->wrong_tiles, 1);
    atomic_fetch_add(&all->calls, 1);
    for (size_t i = begin; i < end; i++) atomic_fetch_add(&all->seen[i], 1);
}

static void check_once(zn_team *team, size_t count, size_t tile)
{
    visits all = {.seen = calloc(count + 1, sizeof(atomic_int)), .count = count, .tile = tile};
    assert_non_null(all.seen);
    zn_parallel(team, count, tile, visit, &all);
    for (size_t i = 0; i < count; i++) assert_int_equal(all.seen[i], 1);
    assert_int_equal(all.seen[count], 0);
    assert_int_equal(all.wrong_tiles, 0);
    assert_int_equal(all.calls, (count + tile - 1) / tile);
    free(all.seen);
}

ZN_TEST(every_index_once)
{
    static const size_t counts[] = {0, 1, 2, 7, 64, 1003};
    static const size_t tiles[] = {1, 3, 64, 5000};
    for (int threads = 0; threads <= 3; threads++) {
        zn_error err = {0};
        zn_team *team = NULL; // 0 threads: no team, the serial loop
        if (threads > 0) zn_test_ok(zn_team_create(threads, &team, &err), &err);
        assert_int_equal(zn_team_threads(team), threads > 0 ? threads : 1);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            for (size_t j = 0; j < sizeof tiles / sizeof *tiles; j++) {
                check_once(team, counts[i], tiles[j]);
            }
        }
        zn_team_free(team);
    }
}

static void note_thread(void *arg, size_t begin, size_t end)
{
    (void)end;
    pthread_t *who = arg;
    who[begin] = pthread_self();
    usleep(2000); // long enough for the others to come up
}

ZN_TEST(uses_the_whole_team)
{
    enum { TILES = 64, THREADS = 3 };
    zn_error err = {0};
    zn_team *team = NULL;
    zn_test_ok(zn_team_create(THREADS, &team, &err), &err);
    pthread_t who[TILES], distinct[TILES];
    zn_parallel(team, TILES, 1, note_thread, who);
    int count = 0;
    for (int i = 0; i < TILES; i++) {
        int j = 0;
        while (j < count && !pthread_equal(distinct[j], who[i])) j++;
        if (j == count) distinct[count++] = who[i];
    }
    assert_int_equal(count, THREADS);
    zn_team_free(team);
}

static void add_one(void *arg, size_t begin, size_t end)
{
    long *numbers = arg;
    for (size_t i = begin; i < end; i++) numbers[i]++;
}

// A loop's writes are there when it returns, and the next loop sees them.
ZN_TEST(loops_follow_each_other)
{
    enum { COUNT = 257, LOOPS = 200 };
    long numbers[COUNT] = {0};
    zn_error err = {0};
    zn_team *team = NULL;
    zn_test_ok(zn_team_create(2, &team, &err), &err);
    for (int i = 0; i < LOOPS; i++) zn_parallel(team, COUNT, 16, add_one, numbers);
    for (int i = 0; i < COUNT; i++) assert_int_equal(numbers[i], LOOPS);
    zn_team_free(team);
}

// Half of the smallest number that is no denormal, computed where the compiler cannot.
static void halve_smallest(void *arg, size_t begin, size_t end)
{
    volatile float smallest = 1.17549435e-38f;
    float *halves = arg;
    for (size_t i = begin; i < end; i++) halves[i] = smallest * 0.5f;
    usleep(1000); // so that every thread has some
}

static bool flushed(zn_team *team)
{
    enum { COUNT = 32 };
    float halves[COUNT];
    zn_parallel(team, COUNT, 1, halve_smallest, halves);
    for (int i = 1; i < COUNT; i++) assert_true((halves[i] == 0) == (halves[0] == 0));
    return halves[0] == 0;
}

static zenith_status note_flushed(void *arg, zn_team *team, int stream)
{
    (void)stream;
    *(bool *)arg = flushed(team);
    return ZENITH_OK;
}

// Every thread of a team flushes denormals or none does; an executor's do not, whatever the host's
// threads do.
ZN_TEST(denormals)
{
    zn_error err = {0};
    zn_team *team = NULL;
    zn_executor *executor = NULL;
    zn_test_ok(zn_team_create(3, &team, &err), &err);
    assert_false(flushed(team));
    zn_team_flush_denormals(team, true);
    assert_true(flushed(team) == zn_denormals_flushed());
    bool in_job = true;
    zn_test_ok(zn_executor_create(1, 2, &executor, &err), &err);
    zn_test_ok(zn_executor_run(executor, note_flushed, &in_job, 1, &err), &err);
    assert_false(in_job);
    zn_executor_free(executor);
    zn_team_flush_denormals(team, false);
    assert_false(flushed(team));
    zn_team_free(team);
}

ZN_TEST(refuses_no_threads)
{
    zn_error err = {0};
    zn_team *team = NULL;
    assert_int_equal(zn_team_create(0, &team, &err), ZENITH_INVALID_ARGUMENT);
    assert_null(team);
    zn_team_free(NULL);
}
