// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Mapped files, the writer's promise (the old file or the new one, never a part), folders.
#include "tests/testing.h"

#include "src/base/directory.h"
#include "src/base/input.h"
#include "src/base/os.h"
#include "src/base/text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];

static const char *in_folder(const char *name)
{
    return zn_test_path(folder, name);
}

ZN_TEST_SETUP(make_folder)
{
    snprintf(folder, sizeof folder, "%s", "/tmp/zenith-files-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static zenith_status remove_entry(void *cookie, const char *name)
{
    (void)cookie;
    const char *path = in_folder(name);
    return unlink(path) == 0 || rmdir(path) == 0 ? ZENITH_OK : ZENITH_IO;
}

ZN_TEST_TEARDOWN(remove_folder)
{
    return zn_directory_each(folder, remove_entry, NULL, NULL) == ZENITH_OK ? rmdir(folder) : -1;
}

static void put(const char *path, const char *content)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, strlen(content), file), strlen(content));
    assert_int_equal(fclose(file), 0);
}

static void assert_content(const char *path, const char *content)
{
    zn_error err = {0};
    zn_mapped mapped = {0};
    zn_test_ok(zn_mapped_open(path, &mapped, &err), &err);
    assert_int_equal(mapped.size, strlen(content));
    if (mapped.size > 0) assert_memory_equal(mapped.data, content, mapped.size);
    zn_mapped_close(&mapped);
    assert_null(mapped.data);
    zn_mapped_close(&mapped);
}

static zenith_status count_entry(void *cookie, const char *name)
{
    (void)name;
    ++*(int *)cookie;
    return ZENITH_OK;
}

static int entries(void)
{
    int count = 0;
    assert_int_equal(zn_directory_each(folder, count_entry, &count, NULL), ZENITH_OK);
    return count;
}

ZN_TEST(mapping)
{
    put(in_folder("full"), "some bytes");
    assert_content(in_folder("full"), "some bytes");
    put(in_folder("empty"), "");
    zn_error err = {0};
    zn_mapped mapped = {.size = 5};
    zn_test_ok(zn_mapped_open(in_folder("empty"), &mapped, &err), &err);
    assert_null(mapped.data);
    assert_int_equal(mapped.size, 0);
    zn_mapped_close(&mapped);

    assert_int_equal(zn_mapped_open(in_folder("nowhere"), &mapped, &err), ZENITH_NOT_FOUND);
    assert_non_null(strstr(err.text, "nowhere"));
    err.text[0] = '\0';
    assert_int_equal(zn_mapped_open(folder, &mapped, &err), ZENITH_IO);
    assert_non_null(strstr(err.text, "directory"));
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(zn_mapped_open(in_folder("pipe"), &mapped, NULL), ZENITH_IO); // does not hang
}

ZN_TEST(forgetting)
{
    enum { SIZE = 50000 };
    zn_error err = {0};
    zn_writer *writer = NULL;
    zn_test_ok(zn_writer_open(in_folder("forget"), &writer, &err), &err);
    for (int i = 0; i < SIZE; i++) {
        uint8_t byte = (uint8_t)(i * 7);
        zn_test_ok(zn_writer_write(writer, &byte, 1, &err), &err);
    }
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    zn_mapped mapped = {0};
    zn_test_ok(zn_mapped_open(in_folder("forget"), &mapped, &err), &err);
    static const size_t ranges[][2] = {
        {0, SIZE}, {0, 1}, {5000, 20000}, {SIZE - 1, SIZE_MAX}, {SIZE, 1}, {SIZE_MAX, SIZE_MAX}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        zn_mapped_forget(&mapped, ranges[i][0], ranges[i][1]);
        for (int j = 0; j < SIZE; j++) assert_int_equal(mapped.data[j], (uint8_t)(j * 7));
    }
    zn_mapped_close(&mapped);
}

ZN_TEST(discard_leaves_the_target)
{
    zn_error err = {0};
    put(in_folder("target"), "old");
    int before = entries();
    zn_writer *writer = NULL;
    zn_test_ok(zn_writer_open(in_folder("target"), &writer, &err), &err);
    assert_int_equal(entries(), before + 1);
    char large[100000];
    memset(large, 'n', sizeof large);
    zn_test_ok(zn_writer_write(writer, large, sizeof large, &err), &err);
    assert_content(in_folder("target"), "old");
    zn_writer_discard(writer);
    assert_content(in_folder("target"), "old");
    assert_int_equal(entries(), before); // nothing is left beside it
    zn_writer_discard(NULL);
}

ZN_TEST(commit_replaces_the_target)
{
    zn_error err = {0};
    put(in_folder("kept"), "old");
    assert_int_equal(chmod(in_folder("kept"), 0640), 0);
    assert_int_equal(symlink("kept", in_folder("link")), 0);
    int before = entries();
    zn_writer *first = NULL, *second = NULL; // two at once have names of their own
    zn_test_ok(zn_writer_open(in_folder("link"), &first, &err), &err);
    zn_test_ok(zn_writer_open(in_folder("kept"), &second, &err), &err);
    zn_test_ok(zn_writer_write(first, "new ", 4, &err), &err);
    zn_test_ok(zn_writer_write(first, "content", 7, &err), &err);
    zn_test_ok(zn_writer_commit(first, &err), &err);
    assert_content(in_folder("kept"), "new content");
    zn_test_ok(zn_writer_write(second, "newest", 6, &err), &err);
    zn_test_ok(zn_writer_commit(second, &err), &err);
    assert_content(in_folder("kept"), "newest");
    struct stat info;
    assert_int_equal(lstat(in_folder("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(in_folder("kept"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(entries(), before);
}

// Parts of every size around the buffer's give the same bytes as one write.
ZN_TEST(buffering)
{
    enum { SIZE = 400000 };
    static uint8_t data[SIZE];
    for (int i = 0; i < SIZE; i++) data[i] = (uint8_t)(i * 31 >> 3);
    static const size_t parts[] = {1000, 65535, 65536, 65537, 40000, 0, 1, SIZE};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        zn_error err = {0};
        zn_writer *writer = NULL;
        zn_test_ok(zn_writer_open(in_folder("parts"), &writer, &err), &err);
        size_t at = 0;
        while (at < SIZE) {
            size_t part = parts[i] ? parts[i] : 777;
            if (part > SIZE - at) part = SIZE - at;
            zn_test_ok(zn_writer_write(writer, data + at, part, &err), &err);
            at += part;
        }
        zn_test_ok(zn_writer_commit(writer, &err), &err);
        zn_mapped mapped = {0};
        zn_test_ok(zn_mapped_open(in_folder("parts"), &mapped, &err), &err);
        assert_int_equal(mapped.size, SIZE);
        assert_memory_equal(mapped.data, data, SIZE);
        zn_mapped_close(&mapped);
    }
}

ZN_TEST(writer_says_what_is_wrong)
{
    zn_writer *writer = NULL;
    zn_error err = {0};
    assert_int_equal(zn_writer_open(in_folder("none/x"), &writer, &err), ZENITH_NOT_FOUND);
    assert_non_null(strstr(err.text, "none/x"));
    assert_int_equal(zn_writer_open(folder, &writer, NULL), ZENITH_IO);
    assert_int_equal(zn_writer_open("", &writer, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_writer_open("name/", &writer, NULL), ZENITH_INVALID_ARGUMENT);
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(zn_writer_open(in_folder(name), &writer, NULL), ZENITH_IO);
    assert_null(writer);
}

// A device is written straight, not replaced; a write that fails there makes the commit fail.
ZN_TEST(devices)
{
    zn_error err = {0};
    zn_writer *writer = NULL;
    zn_test_ok(zn_writer_open("/dev/null", &writer, &err), &err);
    zn_test_ok(zn_writer_write(writer, "gone", 4, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    if (access("/dev/full", W_OK) != 0) return;
    zn_test_ok(zn_writer_open("/dev/full", &writer, &err), &err);
    zn_test_ok(zn_writer_write(writer, "kept in the buffer", 18, &err), &err);
    assert_int_equal(zn_writer_commit(writer, &err), ZENITH_IO);
    char large[70000] = {0};
    err.text[0] = '\0';
    zn_test_ok(zn_writer_open("/dev/full", &writer, &err), &err);
    assert_int_equal(zn_writer_write(writer, large, sizeof large, &err), ZENITH_IO);
    assert_int_equal(zn_writer_commit(writer, &err), ZENITH_IO);
}

ZN_TEST(standard_output)
{
    zn_error err = {0};
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    int file = open(in_folder("out"), O_WRONLY | O_CREAT, 0600);
    assert_true(kept >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    zn_writer *writer = NULL;
    zenith_status opened = zn_writer_open("-", &writer, &err);
    zenith_status wrote = zn_writer_write(writer, "hello", 5, &err);
    zenith_status committed = zn_writer_commit(writer, &err);
    bool still_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    zn_test_ok(opened, &err);
    zn_test_ok(wrote, &err);
    zn_test_ok(committed, &err);
    assert_true(still_open);
    assert_content(in_folder("out"), "hello");
}

struct listing {
    char text[256];
    int left;
};

static zenith_status append_name(void *cookie, const char *name)
{
    struct listing *listing = cookie;
    if (listing->left-- == 0) return ZENITH_CANCELLED;
    strcat(listing->text, name);
    strcat(listing->text, " ");
    return ZENITH_OK;
}

ZN_TEST(listing_in_byte_order)
{
    zn_error err = {0};
    char list[300]; // in_folder's buffers rotate
    snprintf(list, sizeof list, "%s", in_folder("list"));
    assert_int_equal(mkdir(list, 0700), 0);
    static const char *const names[] = {"b", "B", "a10", "a2", "\xc3\xa4", ".hidden"};
    for (size_t i = 0; i < 6; i++) put(zn_test_path(list, names[i]), "");
    struct listing all = {.left = 100}, some = {.left = 2};
    zn_test_ok(zn_directory_each(list, append_name, &all, &err), &err);
    assert_string_equal(all.text, ".hidden B a10 a2 b \xc3\xa4 ");
    assert_int_equal(zn_directory_each(list, append_name, &some, &err), ZENITH_CANCELLED);
    assert_string_equal(some.text, ".hidden B ");
    assert_int_equal(zn_directory_each(in_folder("nowhere"), append_name, &all, &err),
                     ZENITH_NOT_FOUND);
    assert_true(zn_path_is_directory(list));
    assert_false(zn_path_is_file(list));
    assert_true(zn_path_is_file(zn_test_path(list, "b")));
    assert_false(zn_path_is_directory(zn_test_path(list, "b")));
    assert_false(zn_path_is_file(in_folder("nowhere")));
    for (size_t i = 0; i < 6; i++) unlink(zn_test_path(list, names[i]));
}

// Opens standard input when it is these bytes.
static zenith_status open_standard_input(const char *text, uint64_t max_held, zn_input *out,
                                         zn_error *err)
{
    int ends[2];
    const int kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    zenith_status status = zn_input_open("-", max_held, out, err);
    assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    close(kept);
    return status;
}

ZN_TEST(standard_input_has_the_bound_that_is_given)
{
    static const uint64_t bounds[] = {7, 8, UINT64_C(3) << 30, UINT64_MAX, 0};
    zn_error err = {0};
    zn_input input = {0};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        zn_test_ok(open_standard_input("7 bytes", bounds[i], &input, &err), &err);
        assert_int_equal(input.size, 7);
        assert_memory_equal(input.data, "7 bytes", 7);
        zn_input_close(&input);
    }
    assert_int_equal(open_standard_input("7 bytes", 6, &input, &err), ZENITH_LIMIT);
    assert_non_null(strstr(err.text, "more than the 6 bytes"));
    assert_true(zn_input_limit(0) == UINT64_C(2) << 30);
    assert_true(zn_input_limit(5) == 5);
    assert_true(zn_input_limit(UINT64_C(3) << 30) == UINT64_C(3) << 30);
}
