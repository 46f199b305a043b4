// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Folders of pictures for the tests of training data. A drawn picture says in each pixel where it
// lies: red = x, green = y, blue = the picture's number.
#ifndef ZN_TESTS_TRAIN_TRAINING_SET_H
#define ZN_TESTS_TRAIN_TRAINING_SET_H

#include "tests/format/craft_tar.h"
#include "tests/format/crafted.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char set_folder[512]; // this test's own, in the build folder

ZN_TEST_SETUP(set_make)
{
    snprintf(set_folder, sizeof set_folder, "%s/test-train-XXXXXX", zn_test_build());
    return mkdtemp(set_folder) ? 0 : 1;
}

static inline int set_remove_entry(const char *path, const struct stat *info, int kind,
                                   struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

ZN_TEST_TEARDOWN(set_remove)
{
    return nftw(set_folder, set_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static inline const char *set_path(const char *name)
{
    return zn_test_path(set_folder, name);
}

static inline void set_mkdir(const char *name)
{
    assert_int_equal(mkdir(set_path(name), 0755), 0);
}

static inline size_t draw_ppm(uint8_t *to, uint32_t width, uint32_t height, uint8_t number)
{
    size_t size = (size_t)sprintf((char *)to, "P6\n%u %u\n255\n", width, height);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            to[size++] = (uint8_t)x;
            to[size++] = (uint8_t)y;
            to[size++] = number;
        }
    return size;
}

static inline void set_draw(const char *name, uint32_t width, uint32_t height, uint8_t number)
{
    uint8_t *file = malloc(64 + 3 * (size_t)width * height);
    assert_non_null(file);
    write_file(set_path(name), file, draw_ppm(file, width, height, number));
    free(file);
}

// A picture of tests/format/images.
static inline void set_copy(const char *picture, const char *name)
{
    char path[1024];
    zn_mapped file = {0};
    zn_error err = {0};
    snprintf(path, sizeof path, "%s/tests/format/images/%s", zn_test_source(), picture);
    zn_test_ok(zn_mapped_open(path, &file, &err), &err);
    write_file(set_path(name), file.data, file.size);
    zn_mapped_close(&file);
}

#endif
