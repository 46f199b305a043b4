// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests share: cmocka with its includes, where the data is, and a skip that CTest sees.
#ifndef ZN_TESTS_TESTING_H
#define ZN_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/base/status.h"

// Folders of test material: the environment variable if set, else the default beside the checkout.
// Never NULL; the folder may not exist (see zn_test_need).
const char *zn_test_weights(void); // ZENITH_TEST_WEIGHTS, ../shared/weights
const char *zn_test_data(void);    // ZENITH_TEST_DATA, ../shared/data
const char *zn_test_golden(void);  // ZENITH_TEST_GOLDEN, ../shared/reference/golden/out
const char *zn_test_quant(void);   // ZENITH_TEST_QUANT, ../shared/reference/quant-golden
const char *zn_test_source(void);  // the checkout
const char *zn_test_build(void);   // ZENITH_BUILD_DIR, a folder for this test's files alone

// folder + "/" + name, in one of a few rotating buffers.
const char *zn_test_path(const char *folder, const char *name);

// Unless path exists, skips the test that calls it, and says why; outside of a test, as in main or
// a group's setup, the whole program. The program ends with CTest's code for "skipped" where a test
// was skipped and none failed.
void zn_test_need(const char *path);

// A test: its body follows, and nothing else has to name it. A file's tests run in the order of the
// file.
//
//     ZN_TEST(sums_are_exact)
//     {
//         assert_true(..);
//     }
//
// ZN_TEST_SETUP(name) and ZN_TEST_TEARDOWN(name) are run before and after them and return 0 where
// all is well; the last of a file counts, so that it can begin with one of a header. A program has
// a main of its own, which ends with zn_test_run, only where that is not enough.
#define ZN_TEST(NAME)          ZN_TEST_ADDED(void, NAME, zn_test_add(#NAME, NAME))
#define ZN_TEST_SETUP(NAME)    ZN_TEST_ADDED(int, NAME, zn_test_setup = NAME)
#define ZN_TEST_TEARDOWN(NAME) ZN_TEST_ADDED(int, NAME, zn_test_teardown = NAME)
#define ZN_TEST_ADDED(TYPE, NAME, ADD)                                                             \
    static TYPE NAME(void **state);                                                                \
    __attribute__((constructor)) static void add_##NAME(void)                                      \
    {                                                                                              \
        ADD;                                                                                       \
    }                                                                                              \
    static TYPE NAME(void **state __attribute__((unused)))
// The whole program is skipped where this path is not there (zn_test_need).
#define ZN_TEST_NEEDS(PATH)                                                                        \
    ZN_TEST_SETUP(need_path)                                                                       \
    {                                                                                              \
        zn_test_need(PATH);                                                                        \
        return 0;                                                                                  \
    }
void zn_test_add(const char *name, CMUnitTestFunction test);
extern CMFixtureFunction zn_test_setup, zn_test_teardown;
int zn_test_run(void);
// For a program of several groups: the tests that were added since the last call.
size_t zn_test_take(const struct CMUnitTest **first);

int zn_test_group(const char *name, const struct CMUnitTest *tests, size_t count,
                  CMFixtureFunction setup, CMFixtureFunction teardown);
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    zn_test_group(#tests, tests, sizeof(tests) / sizeof *(tests), setup, teardown)

// The number in ZENITH_TEST_QUICK, 0 to 9. From 1 on, long loops take every so many of their cases,
// because the same test runs in full elsewhere (see .ci/run) and here under a sanitizer, an
// emulator or an old instruction set; from 2 on, the longest take one case of so many.
int zn_test_quick(void);
// Of those longest loops: whether this suite takes the case with this number. ZENITH_TEST_OFFSET
// moves the choice by so many, so that suites with different offsets take different cases.
bool zn_test_takes(uint64_t number);
// The same for loops that take one case in `every` at any level from 1 on.
bool zn_test_takes_one_in(uint64_t every, uint64_t number);
uint64_t zn_test_offset(void); // ZENITH_TEST_OFFSET, or 0: for loops whose cases come of a seed

// How much longer than the bound of a release build things may take: sanitizers and emulators
// (which is where tests run on other than x86-64) take about eight times as long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__)
enum { ZN_TEST_SLOWER = 8 };
#else
enum { ZN_TEST_SLOWER = 1 };
#endif

// A moment, and what has passed since: seconds of the clock, or of the CPU time that this process
// took where those are fewer, because other processes on a busy machine are not what a bound is
// about.
typedef struct zn_test_moment {
    double clock, cpu;
} zn_test_moment;
zn_test_moment zn_test_now(void);
double zn_test_seconds_since(zn_test_moment begin);

// ZENITH_TEST_ONLY=PATTERN leaves out the tests of a program whose names do not match (* and ?),
// ZENITH_TEST_SKIP=PATTERN those whose names do.

// Fails the test with the status and its sentence unless status is ZENITH_OK.
void zn_test_ok_at(zenith_status status, const zn_error *err, const char *file, int line);
#define zn_test_ok(status, err) zn_test_ok_at(status, err, __FILE__, __LINE__)

#endif
