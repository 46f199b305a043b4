// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests in which allocations fail, as tables: `oom FOLDER.NAME` runs one of programs.list. What
// they call must say ZENITH_OUT_OF_MEMORY, leak nothing (the sanitizers look), and work once memory
// is back.
#ifndef ZN_TESTS_OOM_H
#define ZN_TESTS_OOM_H

#include "tests/fail_in_turn.h"

// Each allocation of a short call fails in turn: see fail_in_turn().
typedef struct oom_call {
    const char *name;
    zenith_status (*run)(zn_error *err);
    zenith_status expected;
    long least;
} oom_call;

#define OOM_CALL(RUN, EXPECTED, LEAST)                                                             \
    {                                                                                              \
#RUN, RUN, EXPECTED, LEAST                                                                 \
    }

// A session too long for that: the first `each` of its allocations fail in turn, then every
// `step`-th. It must say ZENITH_OUT_OF_MEMORY or make the bytes that it makes with enough memory.
typedef struct oom_session {
    const char *name;
    zenith_status (*run)(void *made);
    size_t bytes;                // that it makes
    long each, step, quick_step; // steps are so much longer for each level of zn_test_quick()
} oom_session;

// Any of these may be left out.
typedef struct oom_program {
    const char *need;                      // of the larger goldens: skipped where that is not there
    int (*options)(int argc, char **argv); // an exit code, or -1: the tests are run
    int (*open)(void **state), (*close)(void **state);
    struct CMUnitTest tests[2]; // run first, then calls and sessions; a row of zeros ends each
    oom_call calls[10];
    oom_session sessions[3];
} oom_program;

#define PROGRAM(FOLDER, NAME) extern const oom_program program_##NAME;
#include "tests/oom/programs.list"
#undef PROGRAM

#endif
