// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations that fail on request: tests/oom/failing.c, to be linked, takes the C library's place.
#ifndef ZN_TESTS_FAIL_IN_TURN_H
#define ZN_TESTS_FAIL_IN_TURN_H

#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

// Lets the allocation after so many more fail, once.
void fail_allocation(long after);
// No allocation fails any more; true where the one that was to fail has failed.
bool fail_stop(void);

// Without this, only aligned_alloc fails, by which alone the library allocates (and PCRE2 by the
// library). With it, all allocations fail that these libraries make, named by how their file
// begins; "" is the program. In builds with sanitizers, which own malloc, it does nothing.
void fail_watch(const char *const *libraries, size_t count);
// Blocks of those libraries that are not freed; always 0 with sanitizers, which look for leaks.
long fail_live(void);
// The library that asked for the allocation that failed last.
const char *fail_library(void);

// Runs `action` with each of its allocations failing in turn: it must say ZENITH_OUT_OF_MEMORY and
// why, and end as it does with enough memory when it is asked again. There must be at least `least`
// allocations, so that the test does test something.
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

#endif
