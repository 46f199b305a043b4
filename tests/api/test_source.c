// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith_source: facts, rows from files, memory and standard input, and what is refused.
#include "tests/api/api_files.h"

static const char *image(const char *name)
{
    return zn_test_path(zn_test_path(zn_test_source(), "tests/format/images"), name);
}

static zenith_source_info info_of(const zenith_source *source)
{
    zenith_source_info info = {.size = sizeof info};
    zenith_source_get_info(source, &info);
    return info;
}

ZN_TEST(facts)
{
    zenith_source *source = NULL;
    zenith_source_params params = {.size = sizeof params, .multiple = 10};
    api_ok(zenith_source_open(context, image("orientation_6.png"), &params, &source));
    zenith_source_info info = info_of(source);
    assert_int_equal(info.size, sizeof info);
    assert_string_equal(info.format, "png");
    assert_string_equal(info.colour, "sRGB");
    assert_true(info.stored_width == 24 && info.stored_height == 16);
    assert_true(info.turned_width == 16 && info.turned_height == 24);
    assert_true(info.width == 10 && info.height == 20);
    assert_true(info.crop_x == 3 && info.crop_y == 2);
    assert_true(info.crop_width == 10 && info.crop_height == 20);
    assert_true(info.orientation == 6 && info.bits == 8 && info.channels == 3);
    assert_false(info.has_alpha || info.has_profile || info.streamed);
    zenith_source_free(source);

    api_ok(zenith_source_open(context, image("icc_p3_alpha.png"), NULL, &source));
    info = info_of(source);
    assert_true(info.has_alpha && info.has_profile && info.streamed);
    assert_true(info.width == 24 && info.height == 16);
    zenith_source_free(source);
    api_ok(zenith_source_open(context, image("jpeg_420.jpg"), NULL, &source));
    assert_string_equal(info_of(source).format, "jpeg");
    zenith_source_free(source);
    zenith_source_free(NULL);
}

// A caller whose structs are older than the library's gets the fields that he knows.
ZN_TEST(older_structs)
{
    zenith_source *source = NULL;
    zenith_source_params params = {.size = offsetof(zenith_source_params, max_pixels),
                                   .multiple = 4,
                                   .max_pixels = 1}; // beyond his struct: not looked at
    api_ok(zenith_source_open(context, image("orientation_1.jpg"), &params, &source));
    zenith_source_info info;
    memset(&info, 0x55, sizeof info);
    info.size = offsetof(zenith_source_info, stored_width);
    zenith_source_get_info(source, &info);
    assert_true(info.width == 24 && info.height == 16);
    assert_int_equal(info.stored_width, 0x55555555);
    assert_int_equal(info.size, offsetof(zenith_source_info, stored_width));
    zenith_source_free(source);
    params.size = 3;
    assert_int_equal(zenith_source_open(context, image("orientation_1.jpg"), &params, &source),
                     ZENITH_INVALID_ARGUMENT);
}

ZN_TEST(rows_of_a_file)
{
    size_t size, start;
    uint8_t *file = make_ppm(24, 16, &size, &start), rows[16 * 72];
    write_file(in_folder("a.ppm"), file, size);
    zenith_source *source = NULL;
    api_ok(zenith_source_open(context, in_folder("a.ppm"), NULL, &source));
    for (int pass = 0; pass < 2; pass++) {
        memset(rows, 0, sizeof rows);
        assert_int_equal(zenith_source_rows(source, 0, 5, rows), ZENITH_OK);
        assert_int_equal(zenith_source_rows(source, 5, 11, rows + 5 * 72), ZENITH_OK);
        assert_memory_equal(rows, file + start, sizeof rows);
    }
    assert_string_equal(zenith_source_error(source), "");
    assert_int_equal(zenith_source_rows(source, 4, 1, rows), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(zenith_source_error(source), "a.ppm"));
    assert_int_equal(zenith_source_rows(source, 0, 1, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zenith_source_rows(source, 0, 1, rows), ZENITH_OK);
    assert_string_equal(zenith_source_error(source), ""); // of the last call, not of an older one
    zenith_source_free(source);
    assert_int_equal(zenith_source_rows(NULL, 0, 1, rows), ZENITH_INVALID_ARGUMENT);
    empty_folder();
    free(file);
}

ZN_TEST(rows_of_memory)
{
    size_t size, start;
    uint8_t *file = make_ppm(8, 8, &size, &start), rows[8 * 24];
    zenith_source *source = NULL;
    api_ok(zenith_source_open_memory(context, file, size, NULL, &source));
    assert_int_equal(zenith_source_rows(source, 0, 8, rows), ZENITH_OK);
    assert_memory_equal(rows, file + start, sizeof rows);
    zenith_source_free(source);

    source = NULL;
    api_fails(zenith_source_open_memory(context, file, size - 1, NULL, &source), ZENITH_BAD_FILE,
              "picture in memory");
    assert_null(source);
    free(file);
}

// A file that breaks on the way: the sentence is in the source, and names the file.
ZN_TEST(broken_rows)
{
    uint8_t rows[16 * 72];
    zenith_source *source = NULL;
    api_ok(zenith_source_open(context, image("cut_end.png"), NULL, &source));
    assert_int_equal(zenith_source_rows(source, 0, 16, rows), ZENITH_BAD_FILE);
    assert_non_null(strstr(zenith_source_error(source), "cut_end.png"));
    assert_string_equal(zenith_context_error(context), "");
    assert_int_equal(zenith_source_rows(source, 0, 1, rows), ZENITH_OK);
    zenith_source_free(source);
}

// Large enough that pages are given back on the way, and the picture comes through unharmed.
ZN_TEST(rows_of_a_large_file)
{
    size_t size, start, row = 3 * 4096;
    uint8_t *file = make_ppm(4096, 2048, &size, &start), *rows = malloc(64 * row);
    write_file(in_folder("large.ppm"), file, size);
    zenith_source *source = NULL;
    api_ok(zenith_source_open(context, in_folder("large.ppm"), NULL, &source));
    for (uint32_t y = 0; y < 2048; y += 64) {
        assert_int_equal(zenith_source_rows(source, y, 64, rows), ZENITH_OK);
        assert_memory_equal(rows, file + start + y * row, 64 * row);
    }
    zenith_source_free(source);
    empty_folder();
    free(rows);
    free(file);
}

ZN_TEST(background)
{
    zenith_source *black = NULL, *green = NULL;
    zenith_source_params params = {.size = sizeof params, .background = {10, 200, 30}};
    uint8_t on_black[16 * 72], on_green[16 * 72];
    api_ok(zenith_source_open(context, image("grey_alpha8.png"), NULL, &black));
    api_ok(zenith_source_open(context, image("grey_alpha8.png"), &params, &green));
    assert_int_equal(zenith_source_rows(black, 0, 16, on_black), ZENITH_OK);
    assert_int_equal(zenith_source_rows(green, 0, 16, on_green), ZENITH_OK);
    bool clear = false;
    for (size_t i = 0; i < sizeof on_black; i += 3) {
        assert_true(on_black[i] == on_black[i + 1] && on_black[i] == on_black[i + 2]);
        assert_true(on_green[i + 1] >= on_black[i + 1]);
        clear |= memcmp(on_green + i, params.background, 3) == 0;
    }
    assert_true(clear);
    zenith_source_free(black);
    zenith_source_free(green);
}

ZN_TEST(refused)
{
    zenith_source *source = NULL;
    zenith_source_params params = {.size = sizeof params};
    api_fails(zenith_source_open(context, in_folder("none.png"), &params, &source),
              ZENITH_NOT_FOUND, "none.png");
    api_fails(zenith_source_open(context, folder, &params, &source), ZENITH_IO, "directory");
    api_fails(zenith_source_open(context, image("empty.bin"), &params, &source), ZENITH_BAD_FILE,
              "empty");
    api_fails(zenith_source_open(context, image("cases.txt"), &params, &source), ZENITH_UNSUPPORTED,
              "cases.txt");
    api_fails(zenith_source_open(context, image("bomb.png"), &params, &source), ZENITH_LIMIT,
              "bomb.png");
    api_fails(zenith_source_open(context, image("animated.png"), &params, &source),
              ZENITH_UNSUPPORTED, "animated.png");
    params.first_frame = true;
    api_ok(zenith_source_open(context, image("animated.png"), &params, &source));
    zenith_source_free(source);
    source = NULL;

    params = (zenith_source_params){.size = sizeof params, .fit = ZENITH_FIT_EXACT, .multiple = 7};
    api_fails(zenith_source_open(context, image("orientation_1.jpg"), &params, &source),
              ZENITH_INVALID_ARGUMENT, "fit crop");
    params = (zenith_source_params){.size = sizeof params, .max_pixels = 24 * 16 - 1};
    api_fails(zenith_source_open(context, image("orientation_1.jpg"), &params, &source),
              ZENITH_LIMIT, "orientation_1.jpg");
    params = (zenith_source_params){.size = sizeof params, .max_memory = 1};
    api_fails(zenith_source_open(context, image("orientation_1.jpg"), &params, &source),
              ZENITH_LIMIT, "memory");
    params = (zenith_source_params){.size = sizeof params, .filter = (zenith_filter)7};
    api_fails(zenith_source_open(context, image("orientation_1.jpg"), &params, &source),
              ZENITH_INVALID_ARGUMENT, "ilter");
    api_fails(zenith_source_open(context, NULL, NULL, &source), ZENITH_INVALID_ARGUMENT, "path");
    api_fails(zenith_source_open(context, "x", NULL, NULL), ZENITH_INVALID_ARGUMENT, "place");
    api_fails(zenith_source_open_memory(context, NULL, 5, NULL, &source), ZENITH_INVALID_ARGUMENT,
              "data");
    api_fails(zenith_source_open_memory(context, "", 0, NULL, &source), ZENITH_BAD_FILE, "empty");
    assert_int_equal(zenith_source_open(NULL, "x", NULL, &source), ZENITH_INVALID_ARGUMENT);
    assert_null(source);
}

ZN_TEST(standard_input)
{
    size_t size, start;
    uint8_t *file = make_ppm(512, 256, &size, &start), *rows = malloc(256 * 1536);
    zenith_source *source = NULL;
    pid_t child;
    int saved = put_into_stdin(file, size, &child);
    zenith_status status = zenith_source_open(context, "-", NULL, &source);
    restore_stdin(saved, child);
    api_ok(status);
    assert_int_equal(zenith_source_rows(source, 0, 256, rows), ZENITH_OK);
    assert_memory_equal(rows, file + start, 256 * 1536);
    zenith_source_free(source);
    source = NULL;

    zenith_source_params params = {.size = sizeof params, .max_memory = size - 1};
    saved = put_into_stdin(file, size, &child);
    status = zenith_source_open(context, "-", &params, &source);
    restore_stdin(saved, child);
    api_fails(status, ZENITH_LIMIT, "tandard input");

    saved = put_into_stdin(file, 0, &child);
    status = zenith_source_open(context, "-", NULL, &source);
    restore_stdin(saved, child);
    api_fails(status, ZENITH_BAD_FILE, "empty");
    assert_null(source);
    free(rows);
    free(file);
}
