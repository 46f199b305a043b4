// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Fits: the arithmetic against its definition over many sizes, and the pixels against a picture
// whose every pixel names its place.
#include "tests/testing.h"

#include "src/base/os.h"
#include "src/format/image/resize.h"
#include "src/task/autoencode/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- material

static void pixel_at(uint32_t x, uint32_t y, uint8_t *dst)
{
    dst[0] = (uint8_t)(x * 7 + 3);
    dst[1] = (uint8_t)(y * 5 + 1);
    dst[2] = (uint8_t)((x >> 4) * 16 + (y >> 4));
}

typedef struct ppm {
    uint8_t *data, *pixels; // the pixels lie in data
    size_t size;
    uint32_t width, height;
} ppm;

static ppm ppm_make(uint32_t width, uint32_t height)
{
    char header[64];
    size_t start = (size_t)snprintf(header, sizeof header, "P6\n%u %u\n255\n", width, height);
    ppm made = {.size = start + (size_t)width * height * 3, .width = width, .height = height};
    made.data = malloc(made.size);
    assert_non_null(made.data);
    memcpy(made.data, header, start);
    made.pixels = made.data + start;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            pixel_at(x, y, made.pixels + 3 * ((size_t)y * width + x));
    return made;
}

static zn_picture *open_fit(const uint8_t *data, size_t size, const zn_fit_options *fit)
{
    zn_error err = {0};
    zn_image_options image = zn_image_options_default();
    zn_picture *picture = NULL;
    zn_test_ok(zn_picture_open(data, size, &image, fit, ZENITH_LANCZOS, &picture, &err), &err);
    return picture;
}

// All rows, `step` at a time.
static uint8_t *read_all(zn_picture *picture, uint32_t step)
{
    const zn_fit_plan *plan = zn_picture_plan(picture);
    size_t row = 3 * (size_t)plan->width;
    uint8_t *pixels = malloc(row * plan->height);
    assert_non_null(pixels);
    for (uint32_t y = 0; y < plan->height; y += step) {
        zn_error err = {0};
        uint32_t count = plan->height - y < step ? plan->height - y : step;
        zn_test_ok(zn_picture_rows(picture, y, count, pixels + y * row, &err), &err);
    }
    return pixels;
}

// --- the arithmetic

static zenith_status plan_for(const zn_fit_options *options, uint32_t width, uint32_t height,
                              zn_fit_plan *plan, zn_error *err)
{
    *err = (zn_error){0};
    return zn_fit_plan_make(options, width, height, plan, err);
}

ZN_TEST(crop_and_pad)
{
    zn_error err;
    for (uint32_t multiple = 1; multiple <= 32; multiple++)
        for (uint32_t size = 1; size <= 100; size++) {
            zn_fit_plan plan = {0};
            zn_fit_options crop = {.fit = ZENITH_FIT_CROP, .multiple = multiple};
            zenith_status status = plan_for(&crop, size, 100, &plan, &err);
            assert_int_equal(status, size < multiple ? ZENITH_INVALID_ARGUMENT : ZENITH_OK);
            if (status == ZENITH_OK) {
                assert_int_equal(plan.width, size - size % multiple);
                assert_int_equal(plan.crop_width, plan.width);
                assert_int_equal(plan.crop_x, size % multiple / 2);
                assert_int_equal(plan.crop_y, 100 % multiple / 2);
            }
            zn_fit_options pad = {.fit = ZENITH_FIT_PAD, .multiple = multiple};
            zn_test_ok(plan_for(&pad, size, 100, &plan, &err), &err);
            assert_int_equal(plan.width % multiple, 0);
            assert_in_range(plan.width, size, size + multiple - 1);
            assert_int_equal(plan.crop_x + plan.crop_y, 0);
            assert_int_equal(plan.crop_width, size);
        }
}

ZN_TEST(multiple_is_8_unless_said)
{
    zn_error err;
    zn_fit_plan plan = {0};
    zn_test_ok(plan_for(&(zn_fit_options){0}, 30, 17, &plan, &err), &err);
    assert_int_equal(plan.width, 24);
    assert_int_equal(plan.height, 16);
}

ZN_TEST(sentences)
{
    zn_error err;
    zn_fit_plan plan;
    zn_fit_options exact = {.fit = ZENITH_FIT_EXACT};
    zn_test_ok(plan_for(&exact, 24, 16, &plan, &err), &err);
    assert_int_equal(plan_for(&exact, 24, 17, &plan, &err), ZENITH_INVALID_ARGUMENT);
    const char *said[] = {"24 x 17", "multiples of 8", "(fit crop)", "(fit pad)", "(fit resize)"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        assert_non_null(strstr(err.text, said[i]));
    assert_int_equal(plan_for(&(zn_fit_options){0}, 7, 700, &plan, &err), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "7 x 700"));
    zn_fit_options unknown = {.fit = (zenith_fit)9};
    assert_int_equal(plan_for(&unknown, 8, 8, &plan, &err), ZENITH_INVALID_ARGUMENT);
}

// The scaled picture covers the wanted one, exactly on one side, and has the shape of the source.
ZN_TEST(resize_covers)
{
    static const uint32_t sizes[] = {1, 2, 7, 16, 100, 333, 512, 1000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    zn_error err;
    for (int i = 0; i < SIZES * SIZES; i++)
        for (uint32_t w = 8; w <= 256; w *= 2) {
            uint32_t width = sizes[i % SIZES], height = sizes[i / SIZES], h = 264 - w;
            zn_fit_options fit = {.fit = ZENITH_FIT_RESIZE, .width = w, .height = h};
            zn_fit_plan plan = {0};
            zn_test_ok(plan_for(&fit, width, height, &plan, &err), &err);
            assert_true(plan.width == w && plan.height == h);
            assert_true(plan.scaled_width >= w && plan.scaled_height >= h);
            assert_true(plan.scaled_width == w || plan.scaled_height == h);
            double across = (double)w / width, down = (double)h / height;
            double scale = across > down ? across : down;
            assert_true(plan.scaled_width - width * scale <= 0.5001 &&
                        width * scale - plan.scaled_width <= 0.5001);
            assert_true(plan.scaled_height - height * scale <= 0.5001 &&
                        height * scale - plan.scaled_height <= 0.5001);
            assert_true(plan.crop_width >= 1 && plan.crop_x + plan.crop_width <= width);
            assert_true(plan.crop_height >= 1 && plan.crop_y + plan.crop_height <= height);
        }
}

ZN_TEST(resize_keeps_the_shape)
{
    zn_error err;
    zn_fit_plan plan = {0};
    zn_fit_options by_width = {.fit = ZENITH_FIT_RESIZE, .width = 512};
    zn_test_ok(plan_for(&by_width, 768, 512, &plan, &err), &err); // 341.3: 344 is nearer than 336
    assert_int_equal(plan.height, 344);
    zn_fit_options by_height = {.fit = ZENITH_FIT_RESIZE, .height = 512};
    zn_test_ok(plan_for(&by_height, 768, 512, &plan, &err), &err);
    assert_int_equal(plan.width, 768);
    zn_test_ok(plan_for(&by_width, 60000, 1, &plan, &err), &err);
    assert_int_equal(plan.height, 8); // never 0
    zn_fit_options none = {.fit = ZENITH_FIT_RESIZE},
                   odd = {.fit = ZENITH_FIT_RESIZE, .width = 500};
    assert_int_equal(plan_for(&none, 8, 8, &plan, &err), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(plan_for(&odd, 8, 8, &plan, &err), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "500"));
}

// Numbers at the end of their types are refused, not wrapped around.
ZN_TEST(huge_sizes)
{
    zn_error err;
    zn_fit_plan plan;
    zn_fit_options pad = {.fit = ZENITH_FIT_PAD, .multiple = UINT32_MAX};
    assert_int_equal(plan_for(&pad, 65535, 65535, &plan, &err), ZENITH_LIMIT);
    zn_fit_options wide = {.fit = ZENITH_FIT_RESIZE, .width = 0xfffffff8, .height = 0xfffffff8};
    assert_int_equal(plan_for(&wide, 1, 65535, &plan, &err), ZENITH_LIMIT);
    zn_fit_options cover = {.fit = ZENITH_FIT_RESIZE, .width = 512, .height = 512};
    assert_int_equal(plan_for(&cover, 1, 65535, &plan, &err), ZENITH_LIMIT); // 512 x 33 million
    zn_fit_options few = {.fit = ZENITH_FIT_PAD, .max_pixels = 63};
    assert_int_equal(plan_for(&few, 3, 3, &plan, &err), ZENITH_LIMIT);
}

// --- the pixels

ZN_TEST(rows_are_the_right_ones)
{
    static const zenith_fit fits[] = {ZENITH_FIT_CROP, ZENITH_FIT_PAD};
    static const uint32_t sizes[][2] = {{16, 16}, {17, 23}, {23, 17}, {31, 8}, {9, 40}};
    for (size_t i = 0; i < 10; i++) {
        ppm source = ppm_make(sizes[i / 2][0], sizes[i / 2][1]);
        zn_fit_options fit = {.fit = fits[i % 2]};
        zn_picture *picture = open_fit(source.data, source.size, &fit);
        assert_true(zn_picture_streamed(picture));
        const zn_fit_plan *plan = zn_picture_plan(picture);
        for (uint32_t step = 1; step <= plan->height; step += 3) { // each read is a rewind
            uint8_t *pixels = read_all(picture, step);
            for (uint32_t y = 0; y < plan->height; y++)
                for (uint32_t x = 0; x < plan->width; x++) {
                    uint32_t from_x = x + plan->crop_x, from_y = y + plan->crop_y;
                    if (from_x >= source.width) from_x = source.width - 1;
                    if (from_y >= source.height) from_y = source.height - 1;
                    uint8_t expected[3];
                    pixel_at(from_x, from_y, expected);
                    assert_memory_equal(pixels + 3 * ((size_t)y * plan->width + x), expected, 3);
                }
            free(pixels);
        }
        zn_picture_free(picture);
        free(source.data);
    }
}

ZN_TEST(resized_then_cut)
{
    ppm source = ppm_make(90, 60);
    zn_fit_options fit = {.fit = ZENITH_FIT_RESIZE, .width = 32, .height = 40};
    zn_picture *picture = open_fit(source.data, source.size, &fit);
    assert_false(zn_picture_streamed(picture));
    uint8_t scaled[60 * 40 * 3]; // 90 x 60 covers 32 x 40 at 60 x 40
    zn_error err = {0};
    const zn_resize how = zn_resize_whole(90, 60, 270, 60, 40, ZN_RESIZE_LANCZOS);
    zn_test_ok(zn_resize_rgb(&how, source.pixels, scaled, 180, &err), &err);
    for (uint32_t step = 7; step <= 40; step += 33) {
        uint8_t *pixels = read_all(picture, step);
        for (size_t y = 0; y < 40; y++)
            assert_memory_equal(pixels + y * 96, scaled + y * 180 + 14 * 3, 96);
        free(pixels);
    }
    const zn_fit_plan *plan = zn_picture_plan(picture);
    assert_int_equal(plan->crop_x, 21); // 14 * 90 / 60
    assert_int_equal(plan->crop_width, 48);
    assert_int_equal(plan->crop_height, 60);
    zn_picture_free(picture);
    free(source.data);
}

// The part that a place of 2^32ths names, from the left edge to the right one, mirrored or not.
ZN_TEST(placed_and_mirrored)
{
    static const uint32_t places[] = {0, 1u << 31, UINT32_MAX};
    ppm source = ppm_make(50, 24);
    for (size_t i = 0; i < 6; i++) {
        const bool mirror = i >= 3;
        const uint32_t at = places[i % 3];
        const zn_fit_options fit = {.fit = i % 2 ? ZENITH_FIT_CROP : ZENITH_FIT_RESIZE,
                                    .width = i % 2 ? 0 : 24,
                                    .height = i % 2 ? 0 : 24,
                                    .placed = true,
                                    .at_x = at,
                                    .mirror = mirror};
        zn_picture *picture = open_fit(source.data, source.size, &fit);
        const zn_fit_plan *plan = zn_picture_plan(picture);
        const uint32_t over = 50 - plan->width;
        assert_int_equal(plan->cut_x, at == 0 ? 0 : at == UINT32_MAX ? over : (over + 1) / 2);
        assert_int_equal(plan->crop_x, plan->cut_x);
        uint8_t *rows = read_all(picture, 5);
        for (uint32_t y = 0; y < plan->height; y++)
            for (uint32_t x = 0; x < plan->width; x++) {
                uint8_t wanted[3];
                pixel_at(plan->cut_x + (mirror ? plan->width - 1 - x : x), y, wanted);
                assert_memory_equal(rows + 3 * ((size_t)y * plan->width + x), wanted, 3);
            }
        free(rows);
        zn_picture_free(picture);
    }
    free(source.data);
}

ZN_TEST(buckets_are_chosen)
{
    static const zn_fit_size buckets[] = {{64, 64}, {128, 128}, {144, 72}, {64, 64}};
    static const struct {
        uint32_t width, height;
        size_t bucket;
    } cases[] = {{128, 128, 1}, {127, 127, 0}, {1000, 1000, 1}, {144, 72, 2},
                 {300, 150, 2}, {143, 72, 0},  {64, 9999, 0}};
    const zn_fit_options fit = {.fit = ZENITH_FIT_RESIZE, .buckets = buckets, .bucket_count = 4};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_fit_plan plan = {0};
        zn_error err = {0};
        zn_test_ok(zn_fit_plan_make(&fit, cases[i].width, cases[i].height, &plan, &err), &err);
        assert_int_equal(plan.bucket, cases[i].bucket);
        assert_int_equal(plan.width, buckets[plan.bucket].width);
        assert_true(plan.scaled_width <= cases[i].width && plan.scaled_height <= cases[i].height);
    }
    zn_fit_plan plan;
    zn_error err = {0};
    assert_int_equal(zn_fit_plan_make(&fit, 63, 500, &plan, &err), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "smallest of which has 64 x 64"));
}

ZN_TEST(order_of_rows)
{
    ppm source = ppm_make(16, 24);
    zn_picture *picture = open_fit(source.data, source.size, &(zn_fit_options){0});
    uint8_t rows[24 * 48];
    zn_error err = {0};
    assert_int_equal(zn_picture_rows(picture, 1, 1, rows, &err), ZENITH_INVALID_ARGUMENT);
    zn_test_ok(zn_picture_rows(picture, 0, 4, rows, NULL), NULL);
    assert_int_equal(zn_picture_rows(picture, 3, 1, rows, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_picture_rows(picture, 5, 1, rows, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_picture_rows(picture, 4, 21, rows, NULL), ZENITH_INVALID_ARGUMENT);
    assert_int_equal(zn_picture_rows(picture, 4, UINT32_MAX, rows, NULL), ZENITH_INVALID_ARGUMENT);
    zn_test_ok(zn_picture_rows(picture, 4, 20, rows, NULL), NULL);
    zn_test_ok(zn_picture_rows(picture, 24, 0, rows, NULL), NULL);
    zn_picture_free(picture);
    free(source.data);
}

static zn_mapped map_image(const char *name)
{
    zn_mapped mapped;
    zn_error err = {0};
    const char *images = zn_test_path(zn_test_source(), "tests/format/images");
    zn_test_ok(zn_mapped_open(zn_test_path(images, name), &mapped, &err), &err);
    return mapped;
}

// A file whose end is missing, below the rows that the crop leaves, is broken all the same.
ZN_TEST(truncation_shows)
{
    zn_mapped file = map_image("cut_end.png"); // 24 x 16
    zn_picture *picture = open_fit(file.data, file.size, &(zn_fit_options){.multiple = 10});
    uint8_t rows[10 * 60];
    zn_error err = {0};
    assert_int_equal(zn_picture_rows(picture, 0, 10, rows, &err), ZENITH_BAD_FILE);
    assert_true(err.text[0] != '\0');
    assert_int_equal(zn_picture_rows(picture, 9, 1, rows, NULL), ZENITH_INVALID_ARGUMENT);
    zn_test_ok(zn_picture_rows(picture, 0, 9, rows, NULL), NULL); // only from the top again
    assert_int_equal(zn_picture_rows(picture, 9, 1, rows, NULL), ZENITH_BAD_FILE);
    zn_picture_free(picture);
    zn_fit_options fit = {.fit = ZENITH_FIT_RESIZE, .width = 16};
    picture = open_fit(file.data, file.size, &fit);
    assert_int_equal(zn_picture_rows(picture, 0, 1, rows, NULL), ZENITH_BAD_FILE);
    assert_int_equal(zn_picture_rows(picture, 1, 1, rows, NULL), ZENITH_INVALID_ARGUMENT);
    zn_picture_free(picture);
    zn_mapped_close(&file);
}

static zenith_status open_within(const uint8_t *data, size_t size, const zn_fit_options *fit,
                                 uint64_t max_memory, zn_picture **out, zn_error *err)
{
    zn_image_options image = zn_image_options_default();
    image.limits.max_memory = max_memory;
    return zn_picture_open(data, size, &image, fit, ZENITH_BICUBIC, out, err);
}

// Open says whether memory suffices: at the smallest limit that it accepts, the rows come. That
// holds for a reader that streams and for one that turns the picture.
ZN_TEST(memory_is_known_at_open)
{
    ppm plain = ppm_make(24, 16);
    zn_mapped turned = map_image("orientation_6.png");
    zn_error err = {0};
    for (int i = 0; i < 4; i++) {
        const uint8_t *data = i % 2 ? turned.data : plain.data;
        size_t size = i % 2 ? turned.size : plain.size;
        zn_fit_options fit = {.fit = i < 2 ? ZENITH_FIT_RESIZE : ZENITH_FIT_CROP, .width = 32};
        zn_picture *picture = NULL;
        uint64_t low = 1, high = (uint64_t)64 << 20; // low is refused, high accepted
        assert_int_equal(open_within(data, size, &fit, low, &picture, &err), ZENITH_LIMIT);
        assert_null(picture);
        err = (zn_error){0};
        while (high - low > 1) {
            uint64_t middle = (low + high) / 2;
            zenith_status status = open_within(data, size, &fit, middle, &picture, NULL);
            assert_true(status == ZENITH_OK || status == ZENITH_LIMIT);
            if (status == ZENITH_OK) zn_picture_free(picture);
            *(status == ZENITH_OK ? &high : &low) = middle;
        }
        zn_test_ok(open_within(data, size, &fit, high, &picture, &err), &err);
        free(read_all(picture, 8));
        zn_picture_free(picture);
        if (i < 2) { // source, middle and result of the resize at least
            uint64_t width = i % 2 ? 16 : 24, height = i % 2 ? 24 : 16;
            uint64_t scaled = i % 2 ? 48 : 21;
            assert_true(high > 3 * (width * height + 32 * height + 32 * scaled));
        }
    }
    zn_mapped_close(&turned);
    free(plain.data);
}
