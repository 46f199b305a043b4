// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Resampling bit for bit against Pillow (goldens of tools/goldens/make_test_images.py), with
// strides, and what it refuses.
#include "src/format/image/resize.h"
#include "tests/format/picture_cases.h"

#include <stdlib.h>

static const uint32_t sizes[][2] = {{37, 29}, {16, 16}, {5, 3},  {1, 1},  {61, 40},
                                    {37, 11}, {20, 29}, {74, 7}, {3, 58}, {36, 30}};

static zn_image_pixels read_golden(const char *name)
{
    zn_mapped file = picture_map(name);
    zn_image_pixels pixels;
    zn_error err = {0};
    zn_test_ok(zn_image_read(file.data, file.size, NULL, &pixels, &err), &err);
    zn_mapped_close(&file);
    return pixels;
}

static void check_size(zn_resize_filter filter, const char *filter_name, uint32_t w, uint32_t h)
{
    char name[64];
    snprintf(name, sizeof name, "resize/%s_%ux%u.ppm", filter_name, w, h);
    zn_image_pixels source = read_golden("resize/source.ppm"), golden = read_golden(name);
    assert_int_equal(golden.width, w);
    assert_int_equal(golden.height, h);
    size_t row = (size_t)3 * w, stride = row + 7, from = (size_t)3 * source.width + 11;
    uint8_t *dst = malloc(stride * h), *src = malloc(from * source.height);
    memset(dst, 0xa5, stride * h);
    memset(src, 0x5a, from * source.height);
    for (uint32_t y = 0; y < source.height; y++)
        memcpy(src + y * from, source.data + y * (size_t)3 * source.width,
               (size_t)3 * source.width);
    zn_error err = {0};
    const zn_resize how = zn_resize_whole(source.width, source.height, from, w, h, filter);
    zn_test_ok(zn_resize_rgb(&how, src, dst, stride, &err), &err);
    for (uint32_t y = 0; y < h; y++) {
        assert_memory_equal(dst + y * stride, golden.data + y * row, row);
        for (size_t i = row; i < stride; i++) assert_int_equal(dst[y * stride + i], 0xa5);
    }
    free(dst);
    free(src);
    zn_image_pixels_free(&source);
    zn_image_pixels_free(&golden);
}

ZN_TEST(same_bits_as_pillow)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_size(ZN_RESIZE_BICUBIC, "bicubic", sizes[i][0], sizes[i][1]);
        check_size(ZN_RESIZE_LANCZOS, "lanczos", sizes[i][0], sizes[i][1]);
    }
}

// Where both sides change, one of them, and none.
ZN_TEST(a_part_has_the_bits_of_the_whole)
{
    static const uint32_t to[][2] = {{20, 31}, {80, 9}, {37, 29}, {37, 12}, {50, 29}};
    zn_image_pixels source = read_golden("resize/source.ppm");
    uint8_t whole[3 * 80 * 80], part[3 * 80 * 80];
    zn_error err = {0};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        zn_resize how = zn_resize_whole(source.width, source.height, 3 * (size_t)source.width,
                                        to[i][0], to[i][1], ZN_RESIZE_LANCZOS);
        const size_t stride = 3 * (size_t)to[i][0];
        zn_test_ok(zn_resize_rgb(&how, source.data, whole, stride, &err), &err);
        how.left = 5;
        how.top = 3;
        how.cut_width = to[i][0] - 9;
        how.cut_height = to[i][1] - 4;
        const size_t row = 3 * (size_t)how.cut_width;
        zn_test_ok(zn_resize_rgb(&how, source.data, part, row, &err), &err);
        for (size_t y = 0; y < how.cut_height; y++)
            assert_memory_equal(part + y * row, whole + (y + 3) * stride + 15, row);
    }
    zn_image_pixels_free(&source);
}

ZN_TEST(a_flat_picture_stays_flat)
{
    uint8_t src[3 * 9 * 7], dst[3 * 40 * 31];
    memset(src, 200, sizeof src);
    zn_error err = {0};
    for (int filter = ZN_RESIZE_BICUBIC; filter <= ZN_RESIZE_LANCZOS; filter++) {
        const zn_resize how = zn_resize_whole(9, 7, 27, 40, 31, (zn_resize_filter)filter);
        zn_test_ok(zn_resize_rgb(&how, src, dst, 120, &err), &err);
        for (size_t i = 0; i < sizeof dst; i++) assert_int_equal(dst[i], 200);
    }
}

ZN_TEST(nonsense_is_refused)
{
    const zn_resize good = zn_resize_whole(1, 1, 3, 4, 4, ZN_RESIZE_BICUBIC);
    zn_resize bad[] = {good, good, good, good, good};
    bad[0].width = 0;
    bad[1].to_height = 0;
    bad[2].filter = (zn_resize_filter)9;
    bad[3].left = 1; // its part ends outside
    bad[4].cut_height = 0;
    uint8_t src[3] = {0}, dst[3 * 4 * 4];
    zn_test_ok(zn_resize_rgb(&good, src, dst, 12, NULL), NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(zn_resize_rgb(&bad[i], src, dst, 12, NULL), ZENITH_INVALID_ARGUMENT);
}
