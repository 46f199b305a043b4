// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of turns and their batches, by a clock that the test sets, and the choice of a batch
// from measured rates.
#include "apps/serve/models/probe.h"
#include "apps/serve/queue/turns.h"
#include "tests/testing.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { SMALL = 1, LARGE = 2, MOST = 1000 };

static double now;
static serve_turns turns;
static serve_turn list[MOST];
static const serve_turn *begun[MOST];
static atomic_size_t begun_count;
static size_t late_count, batches[MOST], batch_count;
static bool ends_at_once;

static double test_clock(void)
{
    return now;
}

static void begin(serve_turn *turn)
{
    const size_t place = atomic_load(&begun_count);
    begun[place] = turn;
    atomic_store(&begun_count, place + 1);
    if (ends_at_once) serve_turns_over(&turns, turn);
}

static void late(serve_turn *turn)
{
    (void)turn;
    late_count++;
}

static void note(void *cookie, const serve_turn *lead, size_t count)
{
    (void)cookie, (void)lead;
    batches[batch_count++] = count;
}

static void open_turns(size_t slots, double delay, double (*clock)(void))
{
    now = 1000;
    atomic_store(&begun_count, 0);
    late_count = batch_count = 0;
    ends_at_once = false;
    memset(list, 0, sizeof list);
    turns = (serve_turns){.clock = clock, .usual = 30, .delay = delay, .note = note};
    assert_true(serve_turns_open(&turns, slots));
}

static serve_turn *add(size_t place, uint32_t side, double seconds, double timeout)
{
    serve_turn *turn = &list[place];
    *turn = (serve_turn){.key = {.width = side, .height = side},
                         .arrived = turns.clock(),
                         .seconds = seconds,
                         .all = seconds,
                         .begin = begin,
                         .late = late};
    if (timeout > 0) turn->deadline = turn->arrived + timeout;
    serve_turns_add(&turns, turn);
    return turn;
}

static void add_batchable(size_t place, uint32_t side, size_t least, size_t most)
{
    serve_turn *turn = add(place, side, 0.01, 0);
    turn->pays = (serve_batch){.least = least, .most = most};
}

static void end_all(size_t from)
{
    for (size_t i = from; i < atomic_load(&begun_count); i++) serve_turns_over(&turns, begun[i]);
}

// A small one passes large ones that came before it, and the large ones keep their order.
ZN_TEST(test_small_first)
{
    open_turns(1, 0, test_clock);
    for (size_t i = 0; i < 3; i++) add(i, LARGE, 1, 0);
    serve_turns_look(&turns);
    assert_int_equal(begun_count, 1);
    now += 0.5;
    add(3, SMALL, 0.01, 0);
    serve_turns_look(&turns);
    assert_int_equal(begun_count, 1); // the slot is taken
    now += 0.5;
    for (size_t i = 0; i < 3; i++) serve_turns_over(&turns, begun[i]);
    const serve_turn *expected[] = {&list[0], &list[3], &list[1], &list[2]};
    assert_int_equal(begun_count, 4);
    assert_memory_equal(begun, expected, sizeof expected);
    serve_turns_over(&turns, begun[3]);
    serve_turns_close(&turns);
}

// Small ones without end, as fast as they are worked: the large one has its turn when it is due.
ZN_TEST(test_no_starving)
{
    size_t place = 1;
    open_turns(1, 0, test_clock);
    add(0, SMALL, 0.01, 0);
    serve_turns_look(&turns);
    const serve_turn *large = add(place++, LARGE, 0.5, 0);
    for (; begun[begun_count - 1] != large && place < MOST; place++) {
        add(place, SMALL, 0.01, 0);
        now += 0.01;
        serve_turns_over(&turns, begun[begun_count - 1]);
    }
    assert_true(begun[begun_count - 1] == large);
    assert_true(now - 1000 > 1 && now - 1000 < 8 * 0.5 + 0.2);
    serve_turns_close(&turns);
}

ZN_TEST(test_deadlines)
{
    open_turns(1, 0, test_clock);
    add(0, LARGE, 1, 0);
    serve_turns_look(&turns);
    add(1, 3, 0.1, 0);
    add(2, 4, 0.1, 0.5); // nearer than what its work gives it
    add(3, 5, 0.1, 0.01);
    serve_turns_look(&turns);
    assert_int_equal(late_count, 1); // the last one cannot be done in time, and is told at once
    now += 0.2;
    serve_turns_over(&turns, begun[0]);
    assert_true(begun[1] == &list[2]);
    serve_turns_over(&turns, begun[1]);
    assert_true(begun[2] == &list[1]);
    add(4, 6, 0.1, 0.3);
    now += 0.31; // it has waited too long
    serve_turns_over(&turns, begun[2]);
    assert_int_equal(late_count, 2);
    assert_int_equal(begun_count, 3);
    serve_turns_close(&turns);
}

// An estimate that is far too high does not refuse everybody for ever: it is tried where nothing
// else is to do.
ZN_TEST(test_wrong_estimate)
{
    open_turns(1, 0, test_clock);
    for (size_t i = 0; i < 3; i++) add(i, SMALL, 100, 1);
    serve_turns_look(&turns);
    assert_int_equal(late_count, 2);
    assert_int_equal(begun_count, 1);
    add(3, SMALL, 100, 1);
    serve_turns_look(&turns);
    assert_int_equal(late_count, 3); // the stream is busy
    serve_turns_over(&turns, begun[0]);
    add(4, SMALL, 100, 1);
    serve_turns_look(&turns);
    assert_int_equal(begun_count, 2);
    serve_turns_close(&turns);
}

ZN_TEST(test_batches)
{
    open_turns(1, 0, test_clock);
    for (size_t i = 0; i < 5; i++) add_batchable(i, SMALL, 2, 4);
    for (size_t i = 5; i < 7; i++) add_batchable(i, LARGE, 3, 4); // two do not pay
    serve_turns_look(&turns);
    assert_int_equal(begun_count, 4);
    for (size_t i = 0; i < 3; i++) serve_turns_over(&turns, begun[i]);
    assert_int_equal(begun_count, 4); // one of the batch is not over
    for (size_t i = 3; i < 7; i++) serve_turns_over(&turns, begun[i]);
    const size_t expected[] = {4, 1, 1, 1};
    assert_int_equal(batch_count, 4);
    assert_memory_equal(batches, expected, sizeof expected);
    for (size_t i = 0; i < 7; i++) {
        assert_true(begun[i] == &list[i]);
        assert_int_equal(begun[i]->batch, i < 4 ? 4 : 1);
    }
    serve_turns_close(&turns);
}

ZN_TEST(test_slots)
{
    open_turns(2, 0, test_clock);
    for (size_t i = 0; i < 6; i++) add_batchable(i, SMALL, 2, 2);
    serve_turns_look(&turns);
    assert_int_equal(begun_count, 4);
    end_all(0);
    assert_int_equal(begun_count, 6);
    serve_turns_close(&turns);
}

ZN_TEST(test_withdraw)
{
    open_turns(1, 0, test_clock);
    for (size_t i = 0; i < 3; i++) add(i, SMALL, 0.01, 0);
    serve_turns_look(&turns);
    assert_true(serve_turns_withdraw(&turns, &list[1]));
    assert_false(serve_turns_withdraw(&turns, &list[1]));
    assert_false(serve_turns_withdraw(&turns, &list[0])); // it has begun
    serve_turns_over(&turns, begun[0]);
    assert_true(begun[1] == &list[2]);
    serve_turns_close(&turns);
}

// What ends before begin() returns makes no deep stack, and is not lost.
ZN_TEST(test_ends_at_once)
{
    open_turns(1, 0, test_clock);
    ends_at_once = true;
    for (size_t i = 0; i < MOST; i++) add(i, SMALL, 0.01, 0);
    serve_turns_look(&turns);
    assert_int_equal(begun_count, MOST);
    serve_turns_close(&turns);
}

ZN_TEST(test_delay)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    open_turns(1, 0.05, serve_clock);
    add_batchable(0, SMALL, 2, 2);
    serve_turns_look(&turns);
    assert_int_equal(begun_count, 0); // it waits for another
    for (int i = 0; i < 10000 && atomic_load(&begun_count) == 0; i++) nanosleep(&moment, NULL);
    assert_int_equal(begun_count, 1); // and not for ever
    serve_turns_over(&turns, &list[0]);
    add_batchable(1, SMALL, 2, 2);
    add_batchable(2, SMALL, 2, 2);
    serve_turns_look(&turns);
    assert_int_equal(begun_count, 3); // a full batch does not wait
    end_all(1);
    serve_turns_close(&turns);
}

static void check_choice(const double *rates, size_t count, size_t least, size_t most)
{
    const size_t sizes[] = {1, 2, 4, 8};
    const serve_batch pays = serve_probe_choose(sizes, rates, count);
    assert_int_equal(pays.least, least);
    assert_int_equal(pays.most, most);
}

ZN_TEST(test_choice)
{
    check_choice((double[]){100, 120, 196, 200}, 4, 2, 4);
    check_choice((double[]){100, 80, 150, 200}, 4, 4, 8);
    check_choice((double[]){100, 101, 102, 103}, 4, 0, 0);
    check_choice((double[]){100, 50}, 2, 0, 0);
}
