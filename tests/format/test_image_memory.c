// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the picture readers and writers: limits hold before anything large is allocated, long
// pictures pass through a few rows, and each allocation that fails gives a status and leaves
// nothing behind (the address sanitizer's leak check looks after that).
#include "src/format/image/resize.h"
#include "tests/format/picture_cases.h"

#include <stdlib.h>
#include <unistd.h>

// --- the library's one way to memory, watched

static size_t calls, fail_at, largest; // fail_at 0 = never

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    calls++;
    if (size > largest) largest = size;
    if (calls == fail_at) return NULL;
    return __real_aligned_alloc(alignment, size);
}

static void watch(size_t fail)
{
    calls = largest = 0;
    fail_at = fail;
}

// --- limits

ZN_TEST(a_bomb_is_refused_before_memory)
{
    static const char *const bombs[] = {"bomb.png", "bomb_wide.png", "bomb.jpg"};
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        zn_mapped file = picture_map(bombs[i]);
        zn_image_pixels pixels = {0};
        zn_error err = {0};
        watch(0);
        assert_int_equal(zn_image_read(file.data, file.size, NULL, &pixels, &err), ZENITH_LIMIT);
        assert_non_null(strstr(err.text, "limit"));
        assert_true(largest < 100000);
        zn_mapped_close(&file);
    }
}

static zenith_status read_within(const char *name, zn_image_limits limits)
{
    zn_mapped file = picture_map(name);
    zn_image_options options = zn_image_options_default();
    options.limits = limits;
    zn_image_reader *reader = NULL;
    zenith_status status = zn_image_reader_open(file.data, file.size, &options, &reader, NULL);
    zn_image_reader_free(reader);
    zn_mapped_close(&file);
    return status;
}

ZN_TEST(each_limit_is_kept)
{
    // 24 x 16 pixels
    assert_int_equal(read_within("rgb8.png", (zn_image_limits){.max_pixels = 384}), ZENITH_OK);
    assert_int_equal(read_within("rgb8.png", (zn_image_limits){.max_pixels = 383}), ZENITH_LIMIT);
    assert_int_equal(read_within("rgb8.png", (zn_image_limits){.max_side = 24}), ZENITH_OK);
    assert_int_equal(read_within("rgb8.png", (zn_image_limits){.max_side = 23}), ZENITH_LIMIT);
    assert_int_equal(read_within("rgb8.png", (zn_image_limits){.max_file_bytes = 100}),
                     ZENITH_LIMIT);
    assert_int_equal(read_within("rgb8.png", (zn_image_limits){.max_memory = 1 << 20}), ZENITH_OK);
    assert_int_equal(read_within("rgb8.png", (zn_image_limits){.max_memory = 1000}), ZENITH_LIMIT);
}

static size_t put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(v >> (24 - 8 * i));
    return 4;
}

// Headers of 16384 x 16384 pixels whose decoding cannot stream: the estimate must refuse them,
// while the streaming kind of the same size opens.
ZN_TEST(a_picture_that_must_be_held_counts)
{
    zn_mapped file = picture_map("jpeg_progressive.jpg");
    uint8_t *copy = malloc(file.size);
    memcpy(copy, file.data, file.size);
    for (size_t i = 0; i + 9 < file.size; i++)
        if (copy[i] == 0xff && (copy[i + 1] == 0xc2 || copy[i + 1] == 0xc0)) {
            put32(copy + i + 5, (uint32_t)16384 << 16 | 16384);
            break;
        }
    zn_image_options options = zn_image_options_default();
    options.limits.max_memory = (uint64_t)256 << 20;
    zn_image_reader *reader = NULL;
    zn_error err = {0};
    watch(0);
    assert_int_equal(zn_image_reader_open(copy, file.size, &options, &reader, &err), ZENITH_LIMIT);
    assert_non_null(strstr(err.text, "memory"));
    assert_true(largest < 100000);
    free(copy);
    zn_mapped_close(&file);
}

// --- streaming: rows that are long, and many, through little memory

enum { LONG_WIDTH = 16384, LONG_HEIGHT = 400, ROWS_MEMORY = 8 << 20 };

static void fill_row(uint8_t *row, uint32_t y)
{
    for (size_t i = 0; i < (size_t)3 * LONG_WIDTH; i++) row[i] = (uint8_t)(i / 97 + y);
}

static void write_long(const char *path, zn_image_format format, uint8_t *row)
{
    zn_image_write_options options = {.format = format, .level = -1, .quality = 100};
    zn_writer *file;
    zn_image_writer *writer;
    zn_error err = {0};
    zn_test_ok(zn_writer_open(path, &file, &err), &err);
    zn_test_ok(zn_image_writer_open(file, LONG_WIDTH, LONG_HEIGHT, &options, &writer, &err), &err);
    for (uint32_t y = 0; y < LONG_HEIGHT; y++) {
        fill_row(row, y);
        zn_test_ok(zn_image_writer_rows(writer, 1, row, 0, &err), &err);
    }
    zn_test_ok(zn_image_writer_finish(writer, &err), &err);
    zn_image_writer_free(writer);
    zn_test_ok(zn_writer_commit(file, &err), &err);
}

static void read_long(const char *path, uint8_t *row, uint8_t *expected, int tolerance)
{
    zn_mapped file;
    zn_image_reader *reader;
    zn_error err = {0};
    zn_image_options options = zn_image_options_default();
    options.limits.max_memory = ROWS_MEMORY; // the picture has 19.7 MB
    zn_test_ok(zn_mapped_open(path, &file, &err), &err);
    zn_test_ok(zn_image_reader_open(file.data, file.size, &options, &reader, &err), &err);
    assert_true(zn_image_reader_facts(reader)->streamed);
    for (uint32_t y = 0; y < LONG_HEIGHT; y++) {
        zn_test_ok(zn_image_reader_rows(reader, y, 1, row, (size_t)3 * LONG_WIDTH, &err), &err);
        fill_row(expected, y);
        for (size_t i = 0; i < (size_t)3 * LONG_WIDTH; i += 101)
            if (expected[i] > 40 && expected[i] < 215) // away from the jumps, where JPEG rings
                assert_in_range(abs(row[i] - expected[i]), 0, tolerance);
    }
    zn_image_reader_free(reader);
    zn_mapped_close(&file);
}

ZN_TEST(long_pictures_stream)
{
    static const struct {
        zn_image_format format;
        const char *name;
        int tolerance;
    } kinds[] = {{ZN_IMAGE_PNG, "long.png", 0},
                 {ZN_IMAGE_PNM, "long.ppm", 0},
                 {ZN_IMAGE_JPEG, "long.jpg", 8}};
    uint8_t *row = malloc((size_t)3 * LONG_WIDTH), *expected = malloc((size_t)3 * LONG_WIDTH);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char name[64];
        snprintf(name, sizeof name, "test_image_memory_%d_%s", (int)getpid(), kinds[i].name);
        const char *path = zn_test_path(zn_test_build(), name);
        watch(0);
        write_long(path, kinds[i].format, row);
        assert_true(largest < ROWS_MEMORY);
        watch(0);
        read_long(path, row, expected, kinds[i].tolerance);
        assert_true(largest < ROWS_MEMORY);
        unlink(path);
    }
    free(row);
    free(expected);
}

// --- each allocation in turn

// A profile costs some 400 allocations; these take the same way as others.
static bool repeats_another(const char *name)
{
    static const char *const repeats[] = {"icc_adobe", "icc_prophoto", "icc_swapped",  "iccp_wins",
                                          "cicp_and",  "gama_1_8",     "icc_grey.jpg", "cicp_grey",
                                          "icc_p3_al", "icc_p3.webp"};
    for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++)
        if (strncmp(name, repeats[i], strlen(repeats[i])) == 0) return true;
    return false;
}

ZN_TEST(reading_survives_each_failure)
{
    static picture_case cases[MAX_CASES];
    size_t count = picture_cases_read(cases), failures = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(cases[i].status, "OK") != 0 || repeats_another(cases[i].file)) continue;
        zn_mapped file = picture_map(cases[i].file);
        zn_image_options options = picture_options(&cases[i]);
        zenith_status status = ZENITH_OUT_OF_MEMORY;
        for (size_t nth = 1; status != ZENITH_OK; nth++) {
            zn_image_pixels pixels = {0};
            zn_error err = {0};
            watch(nth);
            status = zn_image_read(file.data, file.size, &options, &pixels, &err);
            bool failed = calls >= nth;
            watch(0);
            if (failed && status != ZENITH_OUT_OF_MEMORY)
                fail_msg("%s: allocation %zu failed, status %d: %s", cases[i].file, nth,
                         (int)status, err.text);
            if (!failed) zn_test_ok(status, &err);
            if (failed) assert_true(err.text[0] != 0);
            failures += failed;
            zn_image_pixels_free(&pixels);
        }
        zn_mapped_close(&file);
    }
    assert_true(failures > 1000);
}

static zenith_status write_small(zn_image_format format, const char *path)
{
    static const uint8_t pixels[3 * 8 * 8] = {1, 2, 3};
    zn_image_write_options options = {.format = format, .level = -1};
    zn_writer *file = NULL;
    zn_image_writer *writer = NULL;
    zenith_status status = zn_writer_open(path, &file, NULL);
    if (status == ZENITH_OK) status = zn_image_writer_open(file, 8, 8, &options, &writer, NULL);
    if (status == ZENITH_OK) status = zn_image_writer_rows(writer, 8, pixels, 24, NULL);
    if (status == ZENITH_OK) status = zn_image_writer_finish(writer, NULL);
    zn_image_writer_free(writer);
    zn_writer_discard(file);
    return status;
}

ZN_TEST(writing_survives_each_failure)
{
    char name[64];
    snprintf(name, sizeof name, "test_image_memory_%d_small", (int)getpid());
    const char *path = zn_test_path(zn_test_build(), name);
    for (int format = ZN_IMAGE_JPEG; format <= ZN_IMAGE_PNM; format++) {
        zenith_status status = ZENITH_OUT_OF_MEMORY;
        for (size_t nth = 1; status != ZENITH_OK; nth++) {
            watch(nth);
            status = write_small((zn_image_format)format, path);
            bool failed = calls >= nth;
            watch(0);
            assert_int_equal(status, failed ? ZENITH_OUT_OF_MEMORY : ZENITH_OK);
        }
    }
}

ZN_TEST(resizing_survives_each_failure)
{
    uint8_t src[3 * 9 * 7] = {0}, dst[3 * 5 * 4];
    zenith_status status = ZENITH_OUT_OF_MEMORY;
    const zn_resize how = zn_resize_whole(9, 7, 27, 5, 4, ZN_RESIZE_LANCZOS);
    for (size_t nth = 1; status != ZENITH_OK; nth++) {
        watch(nth);
        status = zn_resize_rgb(&how, src, dst, 15, NULL);
        bool failed = calls >= nth;
        watch(0);
        assert_int_equal(status, failed ? ZENITH_OUT_OF_MEMORY : ZENITH_OK);
    }
}
