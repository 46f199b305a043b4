// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files made up in memory or in the build folder, for the tests of formats.
#ifndef ZN_TESTS_FORMAT_CRAFTED_H
#define ZN_TESTS_FORMAT_CRAFTED_H

#include "src/base/os.h"
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

typedef struct crafted {
    uint8_t bytes[8192];
    size_t size;
} crafted;

// A safetensors file: the header's text as it stands, and `data` bytes 0, 1, 2, ...
static inline crafted craft_safetensors(const char *header, size_t data)
{
    crafted file = {.size = 8};
    size_t length = strlen(header);
    assert_true(8 + length + data <= sizeof file.bytes);
    for (int i = 0; i < 8; i++) file.bytes[i] = (uint8_t)((uint64_t)length >> (8 * i));
    memcpy(file.bytes + 8, header, length);
    file.size += length;
    for (size_t i = 0; i < data; i++) file.bytes[file.size++] = (uint8_t)i;
    return file;
}

// A path in the test's own folder.
static inline const char *scratch(const char *name)
{
    return zn_test_path(zn_test_build(), name);
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    zn_error err = {{0}};
    zn_writer *writer;
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_writer_write(writer, data, size, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
}

// Fails unless the status is the expected one and the sentence holds the fragment.
static inline void expect_refusal(const char *name, zenith_status status, const zn_error *err,
                                  zenith_status expected, const char *fragment)
{
    if (status == expected && strstr(err->text, fragment)) return;
    fail_msg("%s: status %d (expected %d), message \"%s\" (expected \"%s\" in it)", name,
             (int)status, (int)expected, err->text, fragment);
}

#endif
