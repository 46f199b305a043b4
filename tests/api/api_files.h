// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of files at the API share: a context, a folder of their own, and checks with the
// context's sentence. Each test program includes it once.
#ifndef ZN_TESTS_API_API_FILES_H
#define ZN_TESTS_API_API_FILES_H

#include "tests/api/api_context.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[1024];

static inline const char *in_folder(const char *name)
{
    return zn_test_path(folder, name);
}

static inline int files_in_folder(void)
{
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    int count = -2; // . and ..
    while (readdir(opened)) count++;
    closedir(opened);
    return count;
}

static inline void empty_folder(void)
{
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    for (const struct dirent *entry; (entry = readdir(opened));)
        if (entry->d_name[0] != '.' || strstr(entry->d_name, ".tmp-"))
            assert_int_equal(unlink(in_folder(entry->d_name)), 0);
    closedir(opened);
}

ZN_TEST_SETUP(api_setup)
{
    snprintf(folder, sizeof folder, "%s/test-api-XXXXXX", zn_test_build());
    zenith_context_params params = {.size = sizeof params, .threads = 1};
    if (!mkdtemp(folder)) return -1;
    return zenith_context_create(&params, &context) == ZENITH_OK ? 0 : -1;
}

ZN_TEST_TEARDOWN(api_teardown)
{
    empty_folder();
    zenith_context_free(context);
    return rmdir(folder);
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// A P6 of width x height, every sample from its place; *size gets its bytes. The caller frees it.
static inline uint8_t *make_ppm(uint32_t width, uint32_t height, size_t *size, size_t *start)
{
    char header[64];
    *start = (size_t)snprintf(header, sizeof header, "P6\n%u %u\n255\n", width, height);
    *size = *start + (size_t)width * height * 3;
    uint8_t *data = malloc(*size);
    assert_non_null(data);
    memcpy(data, header, *start);
    for (size_t i = *start; i < *size; i++) data[i] = (uint8_t)((i - *start) * 31 + 5);
    return data;
}

// Puts a pipe that a child fills in the place of standard input; returns what was there.
static inline int put_into_stdin(const uint8_t *data, size_t size, pid_t *child)
{
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    *child = fork();
    assert_true(*child >= 0);
    if (*child == 0) {
        close(ends[0]);
        for (size_t done = 0; done < size;) {
            ssize_t now = write(ends[1], data + done, size - done);
            if (now <= 0) _exit(1);
            done += (size_t)now;
        }
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    return saved;
}

static inline void restore_stdin(int saved, pid_t child)
{
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    } else {
        close(STDIN_FILENO);
    }
    waitpid(child, NULL, 0);
}

#endif
