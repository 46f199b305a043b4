// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.h"

#include "src/base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_SIZE = 1024, PATHS = 8, SKIPPED = 77, MOST_QUICK = 9, MOST_TESTS = 200 };

const char *zn_test_path(const char *folder, const char *name)
{
    static char paths[PATHS][PATH_SIZE];
    static unsigned next;
    char *path = paths[next++ % PATHS];
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

static const char *folder(const char *variable, const char *beside)
{
    const char *set = getenv(variable);
    return set && *set ? set : zn_test_path(zn_test_source(), beside);
}

const char *zn_test_source(void)
{
    const char *set = getenv("ZENITH_SOURCE_DIR");
    return set ? set : ".";
}

const char *zn_test_build(void)
{
    const char *set = getenv("ZENITH_BUILD_DIR");
    return set ? set : "build/dev";
}

const char *zn_test_weights(void)
{
    return folder("ZENITH_TEST_WEIGHTS", "../shared/weights");
}

const char *zn_test_data(void)
{
    return folder("ZENITH_TEST_DATA", "../shared/data");
}

const char *zn_test_golden(void)
{
    return folder("ZENITH_TEST_GOLDEN", "../shared/reference/golden/out");
}

const char *zn_test_quant(void)
{
    return folder("ZENITH_TEST_QUANT", "../shared/reference/quant-golden");
}

static CMFixtureFunction group_setup;
static bool in_tests, any_skipped;

// A test that is skipped must not hide one that failed, nor those after it.
void zn_test_need(const char *path)
{
    if (access(path, R_OK) == 0) return;
    printf("skipped: %s is not there\n", path);
    if (!in_tests) exit(SKIPPED);
    any_skipped = true;
    skip();
}

static int setup_then_tests(void **state)
{
    const int failed = group_setup ? group_setup(state) : 0;
    in_tests = true;
    return failed;
}

int zn_test_group(const char *name, const struct CMUnitTest *tests, size_t count,
                  CMFixtureFunction setup, CMFixtureFunction teardown)
{
    group_setup = setup;
    const int failed = _cmocka_run_group_tests(name, tests, count, setup_then_tests, teardown);
    in_tests = false;
    return failed != 0 ? 1 : any_skipped ? SKIPPED : 0;
}

static struct CMUnitTest tests[MOST_TESTS];
static size_t tests_count, tests_taken;
CMFixtureFunction zn_test_setup, zn_test_teardown;

void zn_test_add(const char *name, CMUnitTestFunction test)
{
    if (tests_count == MOST_TESTS) abort();
    tests[tests_count++] = (struct CMUnitTest){.name = name, .test_func = test};
}

size_t zn_test_take(const struct CMUnitTest **first)
{
    const size_t count = tests_count - tests_taken;
    *first = tests + tests_taken;
    tests_taken = tests_count;
    return count;
}

int zn_test_run(void)
{
    return zn_test_group("tests", tests, tests_count, zn_test_setup, zn_test_teardown);
}

int zn_test_quick(void)
{
    const char *set = getenv("ZENITH_TEST_QUICK");
    const int level = set ? atoi(set) : 0;
    if (level >= 0 && level <= MOST_QUICK) return level;
    print_error("ZENITH_TEST_QUICK is %s, and not 0 to %d\n", set, MOST_QUICK);
    exit(1);
}

uint64_t zn_test_offset(void)
{
    const char *set = getenv("ZENITH_TEST_OFFSET");
    return set ? strtoull(set, NULL, 10) : 0;
}

bool zn_test_takes_one_in(uint64_t every, uint64_t number)
{
    return zn_test_quick() == 0 || (number + zn_test_offset()) % every == 0;
}

bool zn_test_takes(uint64_t number)
{
    const int level = zn_test_quick();
    return level < 2 || zn_test_takes_one_in((uint64_t)level, number);
}

zn_test_moment zn_test_now(void)
{
    return (zn_test_moment){zn_clock_seconds(), zn_process_cpu_seconds()};
}

double zn_test_seconds_since(zn_test_moment begin)
{
    const zn_test_moment end = zn_test_now();
    const double clock = end.clock - begin.clock, cpu = end.cpu - begin.cpu;
    return clock < cpu ? clock : cpu;
}

__attribute__((constructor)) static void choose_tests(void)
{
    const char *pattern = getenv("ZENITH_TEST_ONLY");
    if (pattern && *pattern) cmocka_set_test_filter(pattern);
    const char *skipped = getenv("ZENITH_TEST_SKIP");
    if (skipped && *skipped) cmocka_set_skip_filter(skipped);
}

void zn_test_ok_at(zenith_status status, const zn_error *err, const char *file, int line)
{
    if (status == ZENITH_OK) return;
    print_error("%s:%d: status %d (%s): %s\n", file, line, (int)status, zenith_status_text(status),
                err ? err->text : "");
    _fail(file, line);
}
