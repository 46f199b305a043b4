// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the other tests lean on: that a skipped test hides no failure, and that suites which take
// one case in so many take all of them together.
#include "tests/testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, LEVEL = 9 };

static void passes(void **state)
{
    (void)state;
}

static void fails(void **state)
{
    (void)state;
    fail();
}

static void needs(void **state)
{
    (void)state;
    zn_test_need("/nowhere/at/all");
    fail();
}

static int setup_needs(void **state)
{
    (void)state;
    zn_test_need("/nowhere/at/all");
    return 0;
}

static const struct CMUnitTest only_pass[] = {cmocka_unit_test(passes)};
static const struct CMUnitTest skip_alone[] = {cmocka_unit_test(passes), cmocka_unit_test(needs)};
static const struct CMUnitTest skip_last[] = {cmocka_unit_test(fails), cmocka_unit_test(needs)};
static const struct CMUnitTest skip_first[] = {cmocka_unit_test(needs), cmocka_unit_test(fails)};
static int code_of_pass, code_alone, code_last, code_first, code_of_setup, code_of_level;

// The exit code of a program with these tests; run from main, as cmocka runs one group at a time.
#define exit_code(tests, setup) exit_code_of(tests, sizeof(tests) / sizeof *(tests), setup)
static int exit_code_of(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        exit(zn_test_group("child", tests, count, setup, NULL));
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void asks_for_a_level(void **state)
{
    (void)state;
    setenv("ZENITH_TEST_QUICK", "25", 1);
    (void)zn_test_quick();
}

static const struct CMUnitTest wrong_level[] = {cmocka_unit_test(asks_for_a_level)};

static void a_skip_hides_no_failure(void **state)
{
    (void)state;
    assert_int_equal(code_of_pass, 0);
    assert_int_equal(code_alone, SKIPPED);
    assert_int_equal(code_last, 1);
    assert_int_equal(code_first, 1);
    assert_int_equal(code_of_setup, SKIPPED);
}

static void offsets_take_all_cases(void **state)
{
    (void)state;
    assert_int_equal(code_of_level, 1);
    for (int level = 2; level <= LEVEL; level++) {
        for (uint64_t number = 0; number < 3 * LEVEL; number++) {
            int taken = 0;
            for (int offset = 0; offset < level; offset++) {
                char text[12];
                snprintf(text, sizeof text, "%d", level);
                setenv("ZENITH_TEST_QUICK", text, 1);
                snprintf(text, sizeof text, "%d", offset);
                setenv("ZENITH_TEST_OFFSET", text, 1);
                taken += zn_test_takes(number);
            }
            assert_int_equal(taken, 1);
        }
    }
}

int main(void)
{
    code_of_pass = exit_code(only_pass, NULL);
    code_alone = exit_code(skip_alone, NULL);
    code_last = exit_code(skip_last, NULL);
    code_first = exit_code(skip_first, NULL);
    code_of_setup = exit_code(only_pass, setup_needs);
    code_of_level = exit_code(wrong_level, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_skip_hides_no_failure),
        cmocka_unit_test(offsets_take_all_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
