// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith_target: what is written comes back, and nothing is left behind unless it was finished.
#include "tests/api/api_files.h"

#include "src/base/memory.h"
#include "src/format/image/png_text.h"

enum { W = 24, H = 16, ROW = 3 * W };

static void fill(uint8_t pixels[H * ROW])
{
    for (size_t i = 0; i < H * ROW; i++) pixels[i] = (uint8_t)(i / ROW * 7 + i % ROW * 2);
}

static void read_back(const char *path, uint8_t pixels[H * ROW], const char *format)
{
    zenith_source *source = NULL;
    zenith_source_info info = {.size = sizeof info};
    api_ok(zenith_source_open(context, path, NULL, &source));
    zenith_source_get_info(source, &info);
    assert_string_equal(info.format, format);
    assert_true(info.width == W && info.height == H);
    assert_int_equal(zenith_source_rows(source, 0, H, pixels), ZENITH_OK);
    zenith_source_free(source);
}

static void write_all(const char *path, const zenith_target_params *params, uint8_t *pixels)
{
    zenith_target *target = NULL;
    api_ok(zenith_target_open(context, path, W, H, params, &target));
    for (uint32_t y = 0; y < H; y += 4)
        assert_int_equal(zenith_target_rows(target, y, 4, pixels + y * ROW), ZENITH_OK);
    assert_int_equal(zenith_target_finish(target), ZENITH_OK);
    assert_string_equal(zenith_target_error(target), "");
    zenith_target_free(target);
}

ZN_TEST(every_format)
{
    static const struct {
        const char *name, *asked, *format;
        bool lossless;
    } cases[] = {{"a.png", NULL, "png", true},    {"a.PPM", NULL, "pnm", true},
                 {"a.webp", NULL, "webp", true},  {"a.jpg", NULL, "jpeg", false},
                 {"plain", "png", "png", true},   {"wrong.png", "jpeg", "jpeg", false},
                 {"b", "webp", "webp", true},     {"c", "ppm", "pnm", true},
                 {"b.jpeg", NULL, "jpeg", false}, {"lossy.webp", NULL, "webp", false}};
    uint8_t pixels[H * ROW], back[H * ROW];
    fill(pixels);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zenith_target_params params = {
            .size = sizeof params, .format = cases[i].asked, .lossless = cases[i].lossless};
        write_all(in_folder(cases[i].name), &params, pixels);
        read_back(in_folder(cases[i].name), back, cases[i].format);
        if (cases[i].lossless) assert_memory_equal(back, pixels, sizeof pixels);
        long worst = 0;
        for (size_t k = 0; k < sizeof pixels; k++)
            if (labs((long)back[k] - pixels[k]) > worst) worst = labs((long)back[k] - pixels[k]);
        assert_true(worst < 24); // lossy ones are still this picture
        assert_int_equal(files_in_folder(), 1);
        empty_folder();
    }
}

// How a picture was made comes back as it was written, plain or not; other formats do without it.
ZN_TEST(parameters_are_kept)
{
    static const char *const texts[] = {"a red apple\nSteps: 8, Seed: 1", "caf\303\251\tau lait",
                                        "", NULL};
    uint8_t pixels[H * ROW], back[H * ROW];
    fill(pixels);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        zenith_source *source = NULL;
        zenith_source_info info = {.size = sizeof info};
        const zenith_target_params params = {.size = sizeof params, .parameters = texts[i]};
        write_all(in_folder("a.png"), &params, pixels);
        read_back(in_folder("a.png"), back, "png");
        assert_memory_equal(back, pixels, sizeof pixels);
        api_ok(zenith_source_open(context, in_folder("a.png"), NULL, &source));
        zenith_source_get_info(source, &info);
        if (texts[i] && texts[i][0])
            assert_string_equal(info.parameters, texts[i]);
        else
            assert_null(info.parameters);
        zenith_source_free(source);
        write_all(in_folder("a.ppm"), &params, pixels);
        empty_folder();
    }
}

// Latin-1 as Pillow writes it; a text that is compressed, or cut short, is none.
ZN_TEST(parameters_of_others)
{
    static const struct {
        const char name[5], body[32];
        size_t size;
        const char *text;
    } cases[] = {{"tEXt", "parameters\0caf\351", 15, "caf\303\251"},
                 {"iTXt", "parameters\0\0\0en\0how\0caf\303\251", 25, "caf\303\251"},
                 {"iTXt", "parameters\0\1\0\0\0xx", 17, NULL},
                 {"iTXt", "parameters\0\0\0en\0how", 18, NULL},
                 {"tEXt", "parameters", 10, NULL},
                 {"tEXt", "Comment\0x", 9, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_png_text text;
        char *copy = NULL;
        zn_error err = {0};
        const bool found = zn_png_text_find((const uint8_t *)cases[i].name,
                                            (const uint8_t *)cases[i].body, cases[i].size,
                                            "parameters", &text);
        assert_int_equal(found, cases[i].text != NULL);
        if (!found) continue;
        assert_int_equal(zn_png_text_copy(&text, &copy, &err), ZENITH_OK);
        assert_string_equal(copy, cases[i].text);
        zn_free(copy);
    }
}

static long size_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (long)info.st_size;
}

ZN_TEST(quality)
{
    uint8_t pixels[H * ROW];
    fill(pixels);
    long sizes[2];
    for (int i = 0; i < 2; i++) {
        zenith_target_params params = {.size = sizeof params, .quality = i ? 95 : 10};
        write_all(in_folder("q.jpg"), &params, pixels);
        sizes[i] = size_of(in_folder("q.jpg"));
    }
    assert_true(sizes[0] < sizes[1]);
    write_all(in_folder("default.jpg"), NULL, pixels);
    assert_int_equal(size_of(in_folder("default.jpg")), sizes[1]);
    empty_folder();
}

// Whatever happens before finish, the folder is as it was; an existing file keeps its content.
ZN_TEST(nothing_left_behind)
{
    uint8_t pixels[H * ROW], back[5];
    fill(pixels);
    zenith_target *target = NULL;
    api_ok(zenith_target_open(context, in_folder("a.png"), W, H, NULL, &target));
    zenith_target_free(target);
    assert_int_equal(files_in_folder(), 0);

    write_file(in_folder("a.png"), "older", 5);
    api_ok(zenith_target_open(context, in_folder("a.png"), W, H, NULL, &target));
    assert_int_equal(zenith_target_rows(target, 0, H - 1, pixels), ZENITH_OK);
    assert_int_equal(zenith_target_finish(target), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(zenith_target_error(target), "15 of 16"));
    zenith_target_free(target);
    FILE *file = fopen(in_folder("a.png"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(back, 1, 5, file), 5);
    fclose(file);
    assert_memory_equal(back, "older", 5);
    assert_int_equal(files_in_folder(), 1);
    empty_folder();
    zenith_target_free(NULL);
}

ZN_TEST(order_of_rows)
{
    uint8_t pixels[H * ROW], back[H * ROW];
    fill(pixels);
    zenith_target *target = NULL;
    api_ok(zenith_target_open(context, in_folder("a.png"), W, H, NULL, &target));
    assert_int_equal(zenith_target_rows(target, 1, 1, pixels), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(zenith_target_error(target), "a.png"));
    assert_int_equal(zenith_target_rows(target, 0, 5, pixels + ROW), ZENITH_OK);
    // Row 0 again: a picture that is computed again, and the file begins again.
    assert_int_equal(zenith_target_rows(target, 0, 4, pixels), ZENITH_OK);
    assert_int_equal(zenith_target_rows(target, 4, 13, pixels), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zenith_target_rows(target, 4, 1, NULL), ZENITH_INVALID_ARGUMENT);
    // A mistake in a call is not a failure of the file: the right rows can still follow.
    assert_int_equal(zenith_target_rows(target, 4, 12, pixels + 4 * ROW), ZENITH_OK);
    assert_int_equal(zenith_target_finish(target), ZENITH_OK);
    assert_int_equal(zenith_target_finish(target), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zenith_target_rows(target, 0, 1, pixels), ZENITH_INVALID_ARGUMENT);
    zenith_target_free(target);
    read_back(in_folder("a.png"), back, "png");
    assert_memory_equal(back, pixels, sizeof pixels);
    empty_folder();
    assert_int_equal(zenith_target_rows(NULL, 0, 1, pixels), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zenith_target_finish(NULL), ZENITH_INVALID_ARGUMENT);
}

ZN_TEST(refused)
{
    zenith_target *target = NULL;
    zenith_target_params params = {.size = sizeof params, .format = "tiff"};
    const char *path = in_folder("a.png");
    api_fails(zenith_target_open(context, path, W, H, &params, &target), ZENITH_INVALID_ARGUMENT,
              "tiff");
    api_fails(zenith_target_open(context, in_folder("a.tif"), W, H, NULL, &target),
              ZENITH_INVALID_ARGUMENT, "a.tif");
    api_fails(zenith_target_open(context, "-", W, H, NULL, &target), ZENITH_INVALID_ARGUMENT,
              "format");
    params = (zenith_target_params){.size = sizeof params, .quality = 101};
    api_fails(zenith_target_open(context, path, W, H, &params, &target), ZENITH_INVALID_ARGUMENT,
              "101");
    params = (zenith_target_params){.size = sizeof params, .level = -1};
    api_fails(zenith_target_open(context, path, W, H, &params, &target), ZENITH_INVALID_ARGUMENT,
              "-1");
    api_fails(zenith_target_open(context, path, 0, H, NULL, &target), ZENITH_INVALID_ARGUMENT,
              "a.png");
    api_fails(zenith_target_open(context, in_folder("no/a.png"), W, H, NULL, &target),
              ZENITH_NOT_FOUND, "no/a.png");
    api_fails(zenith_target_open(context, in_folder("a.jpg"), 70000, 8, NULL, &target),
              ZENITH_UNSUPPORTED, "a.jpg");
    api_fails(zenith_target_open(context, NULL, W, H, NULL, &target), ZENITH_INVALID_ARGUMENT,
              "path");
    assert_null(target);
    assert_int_equal(files_in_folder(), 0);
}

// A device that is always full: the failure has a sentence and stays.
ZN_TEST(full_disk)
{
    if (access("/dev/full", W_OK) != 0) skip();
    enum { WIDE = 4096 };
    uint8_t *row = calloc(WIDE, 3);
    zenith_target *target = NULL;
    zenith_target_params params = {.size = sizeof params, .format = "ppm"};
    api_ok(zenith_target_open(context, "/dev/full", WIDE, 64, &params, &target));
    zenith_status status = ZENITH_OK;
    for (uint32_t y = 0; y < 64 && status == ZENITH_OK; y++)
        status = zenith_target_rows(target, y, 1, row);
    assert_int_equal(status, ZENITH_IO);
    assert_non_null(strstr(zenith_target_error(target), "/dev/full"));
    assert_int_equal(zenith_target_finish(target), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(zenith_target_error(target), "/dev/full"));
    zenith_target_free(target);
    free(row);
}

// What is short stays in the writer's buffer until the end, so that finishing fails.
ZN_TEST(full_disk_at_the_end)
{
    if (access("/dev/full", W_OK) != 0) skip();
    uint8_t pixels[H * ROW];
    zenith_target *target = NULL;
    zenith_target_params params = {.size = sizeof params, .format = "ppm"};
    fill(pixels);
    api_ok(zenith_target_open(context, "/dev/full", W, H, &params, &target));
    assert_int_equal(zenith_target_rows(target, 0, H, pixels), ZENITH_OK);
    api_fails(zenith_target_finish(target), ZENITH_IO, "No space left on device");
    assert_string_equal(zenith_context_error(context), zenith_target_error(target));
    zenith_target_free(target);
    assert_non_null(strstr(zenith_context_error(context), "/dev/full")); // it outlives the target
}

// Three pictures in turn: other programs and we ourselves see an animation, and its first picture
// is the first.
ZN_TEST(animations)
{
    enum { FRAMES = 3, SIDE = 16, BYTES = 3 * SIDE * SIDE };
    static uint8_t rows[FRAMES * BYTES], back[BYTES];
    zenith_target *target = NULL;
    zenith_source *source = NULL;
    zenith_target_params params = {
        .size = sizeof params, .lossless = true, .frames = FRAMES, .delay = 40};
    zenith_source_params still = {.size = sizeof still};
    for (size_t i = 0; i < sizeof rows; i++) rows[i] = (uint8_t)(i * 31 + i / BYTES * 7);
    api_ok(zenith_target_open(context, in_folder("a.webp"), SIDE, FRAMES * SIDE, &params, &target));
    api_ok(zenith_target_rows(target, 0, FRAMES * SIDE, rows));
    api_ok(zenith_target_finish(target));
    zenith_target_free(target);
    api_fails(zenith_source_open(context, in_folder("a.webp"), &still, &source), ZENITH_UNSUPPORTED,
              "anim");
    still.first_frame = true;
    api_ok(zenith_source_open(context, in_folder("a.webp"), &still, &source));
    api_ok(zenith_source_rows(source, 0, SIDE, back));
    assert_memory_equal(back, rows, sizeof back);
    zenith_source_free(source);
    api_fails(
        zenith_target_open(context, in_folder("a.png"), SIDE, FRAMES * SIDE, &params, &target),
        ZENITH_INVALID_ARGUMENT, "WebP");
    api_fails(zenith_target_open(context, in_folder("a.webp"), SIDE, 17, &params, &target),
              ZENITH_INVALID_ARGUMENT, "17 rows");
    params.frames = 1 << 20;
    api_fails(zenith_target_open(context, in_folder("a.webp"), SIDE, 1 << 20, &params, &target),
              ZENITH_INVALID_ARGUMENT, "10000");
    empty_folder();
}
