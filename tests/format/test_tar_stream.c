// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tar archives as a stream, and written: what is written comes back, the same members give the same
// bytes, and an archive that is cut off or lies about a size is refused before memory is asked for.
// (The fuzzer compares with format/archive/tar.h.)
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/format/archive/tar.h"
#include "src/format/archive/tar_stream.h"
#include "tests/format/byte_stream.h"
#include "tests/format/craft_tar.h"
#include "tests/format/crafted.h"

#include <stdio.h>

static crafted_tar made;

static void expect_next(zn_tar_stream *stream, const char *name, const void *content, size_t size)
{
    static uint8_t got[TAR_ROOM];
    const char *found_name = NULL;
    uint64_t found_size = 0;
    bool found = false;
    zn_error err = {0};
    zn_test_ok(zn_tar_stream_next(stream, &found_name, &found_size, &found, &err), &err);
    assert_int_equal(found, name != NULL);
    if (!name) return;
    assert_string_equal(found_name, name);
    assert_int_equal(found_size, size);
    zn_test_ok(zn_tar_stream_read(stream, got, size, &err), &err);
    assert_memory_equal(got, content, size);
}

static void expect_failure(byte_stream *from, uint64_t whole, zenith_status expected,
                           const char *part)
{
    zn_tar_stream *stream = NULL;
    const char *name;
    uint64_t size;
    bool found;
    zn_error err = {0};
    zn_test_ok(zn_tar_stream_open(byte_stream_read, from, whole, &stream, &err), &err);
    expect_refusal(part, zn_tar_stream_next(stream, &name, &size, &found, &err), &err, expected,
                   part);
    zn_tar_stream_free(stream);
}

// Writes three members to `path`; `hash` of it.
static void write_archive(const char *path, const char *long_name, char hash[65])
{
    zn_writer *file = NULL;
    zn_error err = {0};
    zn_sha256 sum;
    zn_sha256_begin(&sum);
    zn_test_ok(zn_writer_open(path, &file, &err), &err);
    zn_tar_writer tar = {.file = file, .hash = &sum};
    const struct {
        const char *name, *content;
    } members[] = {{"a.npy", "abc"}, {long_name, "deep"}, {"empty", ""}};
    for (size_t i = 0; i < 3; i++) {
        const size_t size = strlen(members[i].content);
        zn_test_ok(zn_tar_write_member(&tar, members[i].name, size, &err), &err);
        zn_test_ok(zn_tar_write_bytes(&tar, members[i].content, size, &err), &err);
        zn_test_ok(zn_tar_write_end(&tar, &err), &err);
    }
    zn_test_ok(zn_tar_write_finish(&tar, &err), &err);
    zn_test_ok(zn_writer_commit(file, &err), &err);
    assert_int_equal(tar.bytes % 10240, 0);
    zn_sha256_end(&sum, hash);
}

ZN_TEST(what_is_written_comes_back)
{
    char path[512], again[512], first[65], second[65], name[301];
    zn_mapped file = {0};
    zn_tar_stream *stream = NULL;
    zn_error err = {0};
    memset(name, 'n', 300);
    name[300] = '\0';
    snprintf(path, sizeof path, "%s/test_tar_stream.tar", zn_test_build());
    snprintf(again, sizeof again, "%s/test_tar_stream2.tar", zn_test_build());
    write_archive(path, name, first);
    write_archive(again, name, second);
    assert_string_equal(first, second);
    zn_test_ok(zn_mapped_open(path, &file, &err), &err);
    byte_stream from = {file.data, file.size, 0};
    zn_test_ok(zn_tar_stream_open(byte_stream_read, &from, 0, &stream, &err), &err);
    expect_next(stream, "a.npy", "abc", 3);
    expect_next(stream, name, "deep", 4);
    expect_next(stream, "empty", "", 0);
    expect_next(stream, NULL, NULL, 0);
    expect_next(stream, NULL, NULL, 0);
    zn_tar_stream_free(stream);
    zn_mapped_close(&file);
    zn_test_ok(zn_file_remove(path, &err), &err);
    zn_test_ok(zn_file_remove(again, &err), &err);
}

ZN_TEST(what_is_not_read_is_passed_over)
{
    static uint8_t large[100000];
    zn_tar_stream *stream = NULL;
    zn_error err = {0};
    const char *name;
    uint64_t size;
    bool found;
    made.size = 0;
    tar_add(&made, '0', "first", large, sizeof large);
    tar_add(&made, 'V', "volume", large, 1000);
    tar_add(&made, '0', "second", "xyz", 3);
    tar_end(&made);
    byte_stream from = {made.bytes, made.size, 0};
    zn_test_ok(zn_tar_stream_open(byte_stream_read, &from, made.size, &stream, &err), &err);
    zn_test_ok(zn_tar_stream_next(stream, &name, &size, &found, &err), &err);
    assert_int_equal(size, sizeof large);
    zn_test_ok(zn_tar_stream_read(stream, large, 10, &err), &err);
    expect_next(stream, "second", "xyz", 3);
    expect_next(stream, NULL, NULL, 0);
    zn_tar_stream_free(stream);
}

ZN_TEST(lies_and_cuts_are_refused)
{
    made.size = 0;
    tar_add(&made, '0', "huge", "abc", 3);
    memcpy(made.header + 124, "77777777777", 12);
    tar_sign(&made);
    byte_stream from = {made.bytes, made.size, 0};
    expect_failure(&from, made.size, ZENITH_BAD_FILE, "cut off at byte 1024");
    made.size = 0;
    tar_add(&made, 'x', "records", "9 size=4\n", 9);
    memcpy(made.header + 124, "00077777777", 12); // 16 MiB of records
    tar_sign(&made);
    from = (byte_stream){made.bytes, made.size, 0};
    expect_failure(&from, 0, ZENITH_LIMIT, "a header of 16777215 bytes at byte 0");
    from = (byte_stream){made.bytes, 300, 0};
    expect_failure(&from, 300, ZENITH_BAD_FILE, "cut off at byte 300");
    memset(made.bytes, 'x', 1024);
    from = (byte_stream){made.bytes, 1024, 0};
    expect_failure(&from, 1024, ZENITH_BAD_FILE, "not a tar header");
}
