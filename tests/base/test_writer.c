// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files through base/os.h alone, so that it runs on every system: written whole or not at all,
// mapped, listed, with names beyond ASCII. test_files.c has what only POSIX can be asked.
#include "tests/testing.h"

#include "src/base/directory.h"
#include "src/base/os.h"
#include "src/base/text.h"

#include <stdio.h>
#include <string.h>

// A name of this run's own in the build folder: runs of other builds may be going on.
static const char *own_path(const char *name)
{
    char text[128];
    zn_text_format(text, sizeof text, "writer-%llu-%s", (unsigned long long)zn_process_id(), name);
    return zn_test_path(zn_test_build(), text);
}

static void write_text(const char *path, const char *text)
{
    zn_error err = {0};
    zn_writer *writer;
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_writer_write(writer, text, strlen(text), &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
}

static void expect_text(const char *path, const char *text)
{
    zn_error err = {0};
    zn_mapped mapped;
    zn_test_ok(zn_mapped_open(path, &mapped, &err), &err);
    assert_int_equal(mapped.size, strlen(text));
    assert_memory_equal(mapped.data, text, mapped.size);
    zn_mapped_forget(&mapped, 0, mapped.size); // the bytes come back when they are read again
    assert_memory_equal(mapped.data, text, mapped.size);
    zn_mapped_close(&mapped);
    assert_null(mapped.data);
}

static void write_twice(const char *path)
{
    write_text(path, "first");
    assert_true(zn_path_is_file(path));
    assert_false(zn_path_is_directory(path));
    expect_text(path, "first");
    write_text(path, "the second, longer");
    expect_text(path, "the second, longer");
}

ZN_TEST(new_then_replaced)
{
    const char *path = own_path("plain.txt");
    assert_false(zn_path_is_file(path));
    write_twice(path);
    assert_int_equal(remove(path), 0);
}

ZN_TEST(names_are_utf8)
{
    // One name for all runs: C's own remove cannot name it on Windows, so one stays there.
    const char *path = zn_test_path(zn_test_build(), "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5.txt");
    write_twice(path);
    remove(path);
}

ZN_TEST(large_writes_pass_the_buffer)
{
    enum { SIZE = 200 * 1024 };
    static uint8_t data[SIZE];
    for (size_t i = 0; i < SIZE; i++) data[i] = (uint8_t)(i * 7 + i / 256);
    const char *path = own_path("large");
    zn_error err = {0};
    zn_writer *writer;
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    for (size_t at = 0, size = 1; at < SIZE; at += size, size = size * 3 + 1) {
        if (size > SIZE - at) size = SIZE - at;
        zn_test_ok(zn_writer_write(writer, data + at, size, &err), &err);
    }
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    zn_mapped mapped;
    zn_test_ok(zn_mapped_open(path, &mapped, &err), &err);
    assert_int_equal(mapped.size, SIZE);
    assert_memory_equal(mapped.data, data, SIZE);
    zn_mapped_close(&mapped);
    assert_int_equal(remove(path), 0);
}

// Counts names of this run in the build folder, and checks that names come in order.
struct listing {
    char own[64], last[512];
    size_t found;
};

static zenith_status note_name(void *cookie, const char *name)
{
    struct listing *listing = cookie;
    assert_true(strcmp(listing->last, name) < 0);
    zn_text_format(listing->last, sizeof listing->last, "%s", name);
    listing->found += strstr(name, listing->own) != NULL;
    return ZENITH_OK;
}

static size_t own_files(const char *ending)
{
    zn_error err = {0};
    struct listing listing = {0};
    zn_text_format(listing.own, sizeof listing.own, "writer-%llu-%s",
                   (unsigned long long)zn_process_id(), ending);
    zn_test_ok(zn_directory_each(zn_test_build(), note_name, &listing, &err), &err);
    return listing.found;
}

ZN_TEST(unfinished_leaves_nothing)
{
    const char *path = own_path("kept");
    write_text(path, "old");
    zn_error err = {0};
    zn_writer *writer;
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_writer_write(writer, "new", 3, &err), &err);
    assert_int_equal(own_files("kept"), 2); // the file and what is being written beside it
    zn_writer_discard(writer);
    assert_int_equal(own_files("kept"), 1);
    expect_text(path, "old");
    assert_int_equal(remove(path), 0);
}

ZN_TEST(what_cannot_be_is_told)
{
    zn_error err = {0};
    zn_mapped mapped;
    zn_writer *writer;
    assert_int_equal(zn_mapped_open(own_path("missing"), &mapped, &err), ZENITH_NOT_FOUND);
    assert_non_null(strstr(err.text, "missing"));
    err.text[0] = '\0';
    assert_int_equal(zn_mapped_open(zn_test_build(), &mapped, &err), ZENITH_IO);
    assert_non_null(strstr(err.text, "a directory"));
    err.text[0] = '\0';
    assert_int_equal(zn_writer_open(zn_test_build(), &writer, &err), ZENITH_IO);
    assert_int_equal(zn_writer_open(own_path("no/such/folder"), &writer, NULL), ZENITH_NOT_FOUND);
    assert_int_equal(zn_writer_open("folder/", &writer, NULL), ZENITH_INVALID_ARGUMENT);
    assert_true(zn_path_is_directory(zn_test_build()));
    struct listing unused = {0};
    assert_int_equal(zn_directory_each(own_path("missing"), note_name, &unused, NULL),
                     ZENITH_NOT_FOUND);
    const char *empty = own_path("empty");
    write_text(empty, "");
    zn_test_ok(zn_mapped_open(empty, &mapped, &err), &err);
    assert_int_equal(mapped.size, 0);
    assert_null(mapped.data);
    assert_int_equal(remove(empty), 0);
}
