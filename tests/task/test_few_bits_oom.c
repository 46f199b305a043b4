// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a conversion of the golden text model into few bits fail in turn: the first 60 of them, then every
// 53rd. It must say ZENITH_OUT_OF_MEMORY, leave no file, leak nothing (the sanitizers look), and write the same bytes
// once memory is back. The library allocates by aligned_alloc alone, so defining that here is enough.
#include "tests/testing.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/task/few_bits_files.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { EACH = 60, STEP = 53, MOST = 100000 };

static atomic_long left = -1; // allocations until one fails; negative: none does

void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = NULL;
    if (atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0) return NULL;
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

static zenith_status run(const char *source, const char *output)
{
    zn_error err = {{0}};
    zn_executor *executor = NULL;
    char *answer = NULL;
    const zn_few_bits call = {.source = source, .output = output, .rotate = true};
    zenith_status status = zn_executor_create(1, 1, &executor, &err);
    if (status == ZENITH_OK) status = zn_write_few_bits(executor, &call, &answer, &err);
    zn_executor_free(executor);
    zn_free(answer);
    return status;
}

static void allocations_fail(void **state)
{
    (void)state;
    char source[1024], expected[1024], output[1024];
    long refused = 0;
    snprintf(source, sizeof source, "%s", zn_test_path(zn_test_golden(), "qwen3"));
    snprintf(expected, sizeof expected, "%s",
             zn_test_path(zn_test_build(), "few_oom_all.safetensors"));
    snprintf(output, sizeof output, "%s", zn_test_path(zn_test_build(), "few_oom.safetensors"));
    zn_test_need(source);
    (void)!zn_file_remove(output, NULL);
    assert_int_equal(run(source, expected), ZENITH_OK);
    for (long i = 0; i < MOST; i += i < EACH ? 1 : STEP) {
        atomic_store(&left, i);
        const zenith_status status = run(source, output);
        const bool reached = atomic_exchange(&left, -1) < 0;
        if (!reached) break;
        assert_int_equal(status, ZENITH_OUT_OF_MEMORY);
        assert_false(zn_path_is_file(output));
        refused++;
    }
    assert_true(refused > EACH);
    assert_int_equal(run(source, output), ZENITH_OK);
    zn_mapped one, two;
    zn_error err = {{0}};
    zn_test_ok(zn_mapped_open(expected, &one, &err), &err);
    zn_test_ok(zn_mapped_open(output, &two, &err), &err);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.data, two.data, one.size);
    zn_mapped_close(&one);
    zn_mapped_close(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
