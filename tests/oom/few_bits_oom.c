// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a conversion of the golden text model into few bits: all of the file is written,
// or nothing.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/task/convert/few_bits_files.h"
#include "tests/oom/oom.h"

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

// The hash of what was written, into hex: also where it failed after that.
static zenith_status session(void *hex)
{
    static char whole[HEX];
    zn_sha256 hash;
    zn_mapped file = {0};
    const char *output = zn_test_path(zn_test_build(), "few_bits_oom.safetensors");
    (void)!zn_file_remove(output, NULL);
    const zenith_status status = convert(output);
    if (!zn_path_is_file(output)) return status;
    assert_int_equal(zn_mapped_open(output, &file, NULL), ZENITH_OK);
    zn_sha256_begin(&hash);
    zn_sha256_add(&hash, file.data, file.size);
    zn_sha256_end(&hash, hex);
    zn_mapped_close(&file);
    if (!whole[0]) memcpy(whole, hex, HEX);
    assert_string_equal(hex, whole);
    return status;
}

const oom_program program_few_bits_oom = {
    .need = "qwen3",
    .sessions = {{"session", session, HEX, 60, 53, 0}},
};
