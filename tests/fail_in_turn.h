// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations that fail in turn. The library allocates by aligned_alloc alone (and PCRE2 by the library), so
// defining that here is enough, also under sanitizers, which then look for leaks. What other libraries allocate
// fails by tests/task/failing_alloc.h. Include it once, in a test program.
#ifndef ZN_TESTS_FAIL_IN_TURN_H
#define ZN_TESTS_FAIL_IN_TURN_H

#include "tests/testing.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_long fail_left = -1; // allocations until the one that fails; below zero: none does

// Not static: it takes the C library's place.
void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = NULL;
    if (atomic_load(&fail_left) >= 0 && atomic_fetch_sub(&fail_left, 1) == 0) return NULL;
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

// Lets the allocation after so many more fail, once.
static inline void fail_allocation(long after)
{
    atomic_store(&fail_left, after);
}

// No allocation fails any more; true where the one that was to fail has failed.
static inline bool fail_stop(void)
{
    return atomic_exchange(&fail_left, -1) < 0;
}

// Runs `action` with each of its allocations failing in turn: it must say ZENITH_OUT_OF_MEMORY and why, and
// end as it does with enough memory when it is asked again. There must be at least `least` allocations, so
// that the test does test something.
static inline void fail_in_turn(zenith_status (*action)(zn_error *err), zenith_status expected,
                                long least)
{
    for (long allowed = 0;; allowed++) {
        zn_error err = {{0}};
        fail_allocation(allowed);
        zenith_status status = action(&err);
        const bool failed = fail_stop();
        if (failed && (status != ZENITH_OUT_OF_MEMORY || !strstr(err.text, "memory")))
            fail_msg("allocation %ld: status %d, \"%s\"", allowed, (int)status, err.text);
        if (failed) status = action(&err);
        if (status != expected)
            fail_msg("%s allocation %ld: status %d, \"%s\"", failed ? "after" : "without", allowed,
                     (int)status, err.text);
        if (failed) continue;
        assert_true(allowed >= least);
        return;
    }
}

// A session too long for that: the first `each` of its allocations fail in turn, then every `step`-th. It must
// say ZENITH_OUT_OF_MEMORY or make the bytes that it makes with enough memory.
typedef struct fail_session {
    zenith_status (*run)(void *made);
    const void *expected;
    void *made;
    size_t bytes; // of either
    long each, step;
} fail_session;

static inline void fail_some(const fail_session *session)
{
    long allowed = 0, refused = 0;
    for (bool failed = true; failed; allowed += allowed < session->each ? 1 : session->step) {
        fail_allocation(allowed);
        const zenith_status status = session->run(session->made);
        failed = fail_stop();
        if (status == ZENITH_OK)
            assert_memory_equal(session->made, session->expected, session->bytes);
        else if (!failed || status != ZENITH_OUT_OF_MEMORY)
            fail_msg("allocation %ld: status %d", allowed, (int)status);
        refused += failed;
    }
    print_message("%ld of about %ld allocations were refused\n", refused, allowed);
    assert_true(refused > session->each);
}

#endif
