// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading pictures: every crafted file against what Pillow makes of it (at most 1/255 apart), its
// facts, its refusal; rows in pieces and again from the start against the whole; writing and
// reading back.
#include "src/base/memory.h"
#include "src/format/image/exif.h"
#include "tests/format/picture_cases.h"

#include <stdlib.h>
#include <unistd.h>

static picture_case cases[MAX_CASES];
static size_t case_count;

static void check_facts(const picture_case *c, const zn_image_facts *facts)
{
    assert_int_equal(facts->width, c->width);
    assert_int_equal(facts->height, c->height);
    bool turned = c->orientation >= 5;
    assert_int_equal(facts->stored_width, turned ? c->height : c->width);
    assert_int_equal(facts->stored_height, turned ? c->width : c->height);
    assert_int_equal(facts->orientation, c->orientation);
    assert_int_equal(facts->bits, c->bits);
    assert_int_equal(facts->channels, c->channels);
    assert_int_equal(facts->has_alpha, c->alpha);
    assert_int_equal(facts->has_icc, c->icc);
    assert_int_equal(facts->icc_applied, c->applied);
    assert_int_equal(facts->animated, c->animated);
    assert_int_equal(facts->streamed, c->streamed);
    assert_string_equal(facts->colour, c->colour);
}

static int largest_difference(const uint8_t *a, const uint8_t *b, size_t size)
{
    int largest = 0;
    for (size_t i = 0; i < size; i++)
        if (abs(a[i] - b[i]) > largest) largest = abs(a[i] - b[i]);
    return largest;
}

// Expected pictures are "P6\nW H\n255\n" as Pillow writes them; read without the code under test.
static void check_pixels(const picture_case *c, const zn_image_pixels *pixels)
{
    char name[256], head[32];
    bool plain = strcmp(c->options, "-") == 0;
    snprintf(name, sizeof name, "expected/%.63s%s%.15s.ppm", c->file, plain ? "" : ".",
             plain ? "" : c->options);
    zn_mapped expected = picture_map(name);
    int length = snprintf(head, sizeof head, "P6\n%u %u\n255\n", pixels->width, pixels->height);
    size_t bytes = (size_t)3 * pixels->width * pixels->height;
    assert_int_equal(expected.size, (size_t)length + bytes);
    assert_memory_equal(expected.data, head, (size_t)length);
    int difference = largest_difference(expected.data + length, pixels->data, bytes);
    if (difference > 1) fail_msg("%s %s: %d/255 apart", c->file, c->options, difference);
    zn_mapped_close(&expected);
}

ZN_TEST(each_case_is_as_expected)
{
    int good = 0, refused = 0;
    for (size_t i = 0; i < case_count; i++) {
        const picture_case *c = &cases[i];
        zn_mapped file = picture_map(c->file);
        zn_image_options options = picture_options(c);
        zn_image_pixels pixels = {0};
        zn_error err = {0};
        zenith_status status = zn_image_read(file.data, file.size, &options, &pixels, &err);
        if (status != picture_status(c->status))
            fail_msg("%s %s: status %d, %s", c->file, c->options, (int)status, err.text);
        if (status == ZENITH_OK) {
            check_pixels(c, &pixels);
            zn_image_reader *reader = NULL;
            zn_test_ok(zn_image_reader_open(file.data, file.size, &options, &reader, &err), &err);
            check_facts(c, zn_image_reader_facts(reader));
            zn_image_reader_free(reader);
            good++;
        } else {
            assert_true(err.text[0] != 0);
            assert_null(pixels.data);
            refused++;
        }
        zn_image_pixels_free(&pixels);
        zn_mapped_close(&file);
    }
    assert_true(good >= 80);
    assert_true(refused >= 25);
}

// Rows `step` at a time into lines that are longer than needed; what lies behind must stay.
static void read_in_steps(zn_image_reader *reader, uint32_t step, const zn_image_pixels *whole)
{
    size_t row = (size_t)3 * whole->width, stride = row + 5;
    uint8_t *lines = malloc(step * stride);
    zn_error err = {0};
    for (uint32_t y = 0; y < whole->height; y += step) {
        uint32_t count = whole->height - y < step ? whole->height - y : step;
        memset(lines, 0xa5, step * stride);
        zn_test_ok(zn_image_reader_rows(reader, y, count, lines, stride, &err), &err);
        for (uint32_t i = 0; i < count; i++) {
            assert_memory_equal(lines + i * stride, whole->data + (y + i) * row, row);
            for (size_t k = row; k < stride; k++) assert_int_equal(lines[i * stride + k], 0xa5);
        }
    }
    free(lines);
}

ZN_TEST(rows_are_the_whole)
{
    for (size_t i = 0; i < case_count; i++) {
        const picture_case *c = &cases[i];
        if (strcmp(c->status, "OK") != 0) continue;
        zn_mapped file = picture_map(c->file);
        zn_image_options options = picture_options(c);
        zn_image_pixels whole;
        zn_image_reader *reader;
        zn_error err = {0};
        zn_test_ok(zn_image_read(file.data, file.size, &options, &whole, &err), &err);
        zn_test_ok(zn_image_reader_open(file.data, file.size, &options, &reader, &err), &err);
        read_in_steps(reader, 1, &whole);
        read_in_steps(reader, 3, &whole);
        size_t stride = (size_t)3 * whole.width;
        uint8_t *row = malloc(stride);
        zn_test_ok(zn_image_reader_rows(reader, 0, 1, row, stride, &err), &err);
        read_in_steps(reader, whole.height, &whole);
        free(row);
        zn_image_reader_free(reader);
        zn_image_pixels_free(&whole);
        zn_mapped_close(&file);
    }
}

ZN_TEST(rows_come_in_order)
{
    zn_mapped file = picture_map("rgb8.png");
    zn_image_reader *reader;
    zn_error err = {0};
    zn_test_ok(zn_image_reader_open(file.data, file.size, NULL, &reader, &err), &err);
    uint8_t rows[3 * 24 * 17];
    assert_int_equal(zn_image_reader_rows(reader, 1, 1, rows, 72, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_image_reader_rows(reader, 0, 17, rows, 72, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_image_reader_rows(reader, 0, 1, rows, 71, NULL), ZENITH_INVALID_ARGUMENT);
    zn_test_ok(zn_image_reader_rows(reader, 0, 2, rows, 72, &err), &err);
    assert_int_equal(zn_image_reader_rows(reader, 3, 1, rows, 72, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_image_reader_rows(reader, 1, 1, rows, 72, NULL), ZENITH_INVALID_ARGUMENT);
    zn_test_ok(zn_image_reader_rows(reader, 2, 14, rows, 72, &err), &err);
    assert_int_equal(zn_image_reader_rows(reader, 16, 1, rows, 72, NULL), ZENITH_INVALID_ARGUMENT);
    zn_image_reader_free(reader);
    zn_mapped_close(&file);
}

ZN_TEST(a_broken_row_stays_broken)
{
    zn_mapped file = picture_map("short_rows.png"); // 9 of 16
    zn_image_reader *reader;
    zn_error err = {0};
    zn_test_ok(zn_image_reader_open(file.data, file.size, NULL, &reader, &err), &err);
    uint8_t rows[3 * 24 * 16];
    for (int again = 0; again < 2; again++) {
        uint32_t y = 0;
        while (y < 16 && zn_image_reader_rows(reader, y, 1, rows, 72, NULL) == ZENITH_OK) y++;
        assert_in_range(y, 1, 9);
        assert_int_not_equal(zn_image_reader_rows(reader, y, 1, rows, 72, NULL), ZENITH_OK);
    }
    zn_image_reader_free(reader);
    zn_mapped_close(&file);
}

ZN_TEST(formats_are_told_apart)
{
    for (size_t i = 0; i < case_count; i++) {
        if (strcmp(cases[i].status, "OK") != 0) continue;
        zn_mapped file = picture_map(cases[i].file);
        assert_int_equal(zn_image_sniff(file.data, file.size),
                         zn_image_format_of_path(cases[i].file));
        zn_mapped_close(&file);
    }
    assert_int_equal(zn_image_sniff(NULL, 0), ZN_IMAGE_UNKNOWN);
    assert_int_equal(zn_image_sniff((const uint8_t *)"P6", 2), ZN_IMAGE_UNKNOWN);
    assert_int_equal(zn_image_format_of_path("A.JPEG"), ZN_IMAGE_JPEG);
    assert_int_equal(zn_image_format_of_path("jpeg"), ZN_IMAGE_UNKNOWN);
    assert_int_equal(zn_image_format_of_path(NULL), ZN_IMAGE_UNKNOWN);
}

// --- writing

typedef struct round_trip {
    const char *name;
    zn_image_write_options options;
    int tolerance;
} round_trip;

static const round_trip round_trips[] = {
    {"a.png", {.format = ZN_IMAGE_PNG, .level = -1}, 0},
    {"b.png", {.format = ZN_IMAGE_PNG, .level = 9}, 0},
    {"c.png", {.format = ZN_IMAGE_PNG, .level = 0}, 0},
    {"d.ppm", {.format = ZN_IMAGE_PNM}, 0},
    {"e.webp", {.format = ZN_IMAGE_WEBP, .lossless = true}, 0},
    {"f.webp", {.format = ZN_IMAGE_WEBP, .quality = 100}, 12},
    {"g.jpg", {.format = ZN_IMAGE_JPEG, .quality = 100}, 3},
    {"h.jpg", {.format = ZN_IMAGE_JPEG}, 8},
    {"i.jpg", {.format = ZN_IMAGE_JPEG, .quality = 60}, 40},
};
enum { WIDE = 203, HIGH = 101 };

static void paint(uint8_t *pixels)
{
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++, pixels += 3) {
            pixels[0] = (uint8_t)(40 + x / 2);
            pixels[1] = (uint8_t)(20 + y * 2);
            pixels[2] = (uint8_t)(220 - x / 2 - y / 2);
        }
}

static void write_picture(const char *path, const round_trip *trip, const uint8_t *pixels)
{
    zn_writer *file;
    zn_image_writer *writer;
    zn_error err = {0};
    zn_test_ok(zn_writer_open(path, &file, &err), &err);
    zn_test_ok(zn_image_writer_open(file, WIDE, HIGH, &trip->options, &writer, &err), &err);
    assert_int_equal(zn_image_writer_finish(writer, NULL), ZENITH_INVALID_ARGUMENT);
    zn_test_ok(zn_image_writer_rows(writer, 1, pixels, 3 * WIDE, &err), &err);
    assert_int_equal(zn_image_writer_rows(writer, HIGH, pixels, 3 * WIDE, NULL),
                     ZENITH_INVALID_ARGUMENT);
    zn_test_ok(zn_image_writer_rows(writer, HIGH - 1, pixels + 3 * WIDE, 3 * WIDE, &err), &err);
    zn_test_ok(zn_image_writer_finish(writer, &err), &err);
    zn_image_writer_free(writer);
    zn_test_ok(zn_writer_commit(file, &err), &err);
}

ZN_TEST(what_is_written_reads_back)
{
    static uint8_t pixels[3 * WIDE * HIGH];
    paint(pixels);
    for (size_t i = 0; i < sizeof round_trips / sizeof *round_trips; i++) {
        const round_trip *trip = &round_trips[i];
        char name[64];
        snprintf(name, sizeof name, "test_image_%d_%s", (int)getpid(), trip->name);
        const char *path = zn_test_path(zn_test_build(), name);
        write_picture(path, trip, pixels);
        zn_mapped file;
        zn_image_pixels back;
        zn_error err = {0};
        zn_test_ok(zn_mapped_open(path, &file, &err), &err);
        assert_int_equal(zn_image_sniff(file.data, file.size), trip->options.format);
        zn_test_ok(zn_image_read(file.data, file.size, NULL, &back, &err), &err);
        assert_int_equal(back.width, WIDE);
        assert_int_equal(back.height, HIGH);
        assert_in_range(largest_difference(back.data, pixels, sizeof pixels), 0, trip->tolerance);
        zn_image_pixels_free(&back);
        zn_mapped_close(&file);
        unlink(path);
    }
}

ZN_TEST(writers_refuse_nonsense)
{
    zn_image_writer *writer = NULL;
    zn_image_write_options options = {.format = ZN_IMAGE_UNKNOWN};
    assert_int_equal(zn_image_writer_open(NULL, 1, 1, &options, &writer, NULL),
                     ZENITH_INVALID_ARGUMENT);
    options = (zn_image_write_options){.format = ZN_IMAGE_PNG};
    assert_int_equal(zn_image_writer_open(NULL, 0, 1, &options, &writer, NULL),
                     ZENITH_INVALID_ARGUMENT);
    options.level = 10;
    assert_int_equal(zn_image_writer_open(NULL, 1, 1, &options, &writer, NULL),
                     ZENITH_INVALID_ARGUMENT);
    options = (zn_image_write_options){.format = ZN_IMAGE_JPEG, .quality = 101};
    assert_int_equal(zn_image_writer_open(NULL, 1, 1, &options, &writer, NULL),
                     ZENITH_INVALID_ARGUMENT);
    options = (zn_image_write_options){.format = ZN_IMAGE_WEBP};
    assert_int_equal(zn_image_writer_open(NULL, 16384, 1, &options, &writer, NULL),
                     ZENITH_UNSUPPORTED);
    options.format = ZN_IMAGE_JPEG;
    assert_int_equal(zn_image_writer_open(NULL, 1, 65536, &options, &writer, NULL),
                     ZENITH_UNSUPPORTED);
    assert_null(writer);
}

// --- EXIF alone: each cut of a good structure is read without reaching behind its end

ZN_TEST(exif_is_read_in_both_orders)
{
    static const uint8_t big[] = "MM\0*\0\0\0\x08\0\2\1\0\0\4\0\0\0\1\0\0\0\7"
                                 "\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0";
    static const uint8_t little[] = "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\5\0\0\0\0\0\0";
    assert_int_equal(zn_exif_orientation(big, sizeof big), 6);
    assert_int_equal(zn_exif_orientation(little, sizeof little), 5);
    assert_int_equal(zn_exif_orientation(NULL, 0), 1);
    for (size_t size = 0; size < sizeof big; size++) {
        uint8_t *cut = malloc(size + 1); // its own block: the address sanitizer watches the end
        memcpy(cut, big, size);
        int turn = zn_exif_orientation(cut, size);
        assert_int_equal(turn, size >= 34 ? 6 : 1);
        free(cut);
    }
}

int main(void)
{
    case_count = picture_cases_read(cases);
    return zn_test_run();
}
