// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a conversion of the golden text model into few bits fail in turn: the first 60 of them, then every
// 53rd. It must say ZENITH_OUT_OF_MEMORY, leave no file, leak nothing (the sanitizers look), and write the same
// bytes once memory is back.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/task/few_bits_files.h"
#include "tests/fail_in_turn.h"

#include <stdio.h>

enum { HEX = 65 };

static zenith_status convert(const char *output)
{
    zn_error err = {{0}};
    zn_executor *executor = NULL;
    char *answer = NULL;
    const zn_few_bits call = {
        .source = zn_test_path(zn_test_golden(), "qwen3"), .output = output, .rotate = true};
    zenith_status status = zn_executor_create(1, 1, &executor, &err);
    if (status == ZENITH_OK) status = zn_write_few_bits(executor, &call, &answer, &err);
    zn_executor_free(executor);
    zn_free(answer);
    return status;
}

// The hash of what was written, into hex.
static zenith_status session(void *hex)
{
    zn_sha256 hash;
    zn_mapped file = {0};
    const char *output = zn_test_path(zn_test_build(), "few_bits_oom.safetensors");
    (void)!zn_file_remove(output, NULL);
    const zenith_status status = convert(output);
    if (!zn_path_is_file(output)) return status; // all of it was written, or nothing
    assert_int_equal(zn_mapped_open(output, &file, NULL), ZENITH_OK);
    zn_sha256_begin(&hash);
    zn_sha256_add(&hash, file.data, file.size);
    zn_sha256_end(&hash, hex);
    zn_mapped_close(&file);
    return status;
}

static void allocations_fail(void **state)
{
    static char expected[HEX], made[HEX];
    (void)state;
    assert_int_equal(session(expected), ZENITH_OK);
    fail_some(&(fail_session){
        .run = session, .expected = expected, .made = made, .bytes = HEX, .each = 60, .step = 53});
    assert_string_equal(made, expected); // also of one that failed after the file was written
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
    zn_test_need(zn_test_path(zn_test_golden(), "qwen3"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
