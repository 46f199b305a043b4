// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the fuzzers of the picture formats do: open under small limits, read all rows one by one,
// again from the start, and the whole; all three must agree.
#ifndef ZN_TESTS_FUZZ_PICTURE_H
#define ZN_TESTS_FUZZ_PICTURE_H

#include "src/format/image/image.h"

#include <stdlib.h>
#include <string.h>

static zenith_status read_rows(zn_image_reader *reader, uint8_t *dst)
{
    const zn_image_facts *facts = zn_image_reader_facts(reader);
    size_t stride = (size_t)3 * facts->width;
    zenith_status status = ZENITH_OK;
    for (uint32_t y = 0; status == ZENITH_OK && y < facts->height; y++)
        status = zn_image_reader_rows(reader, y, 1, dst + y * stride, stride, NULL);
    return status;
}

static void compare(zn_image_reader *reader, const uint8_t *data, size_t size,
                    const zn_image_options *options)
{
    const zn_image_facts *facts = zn_image_reader_facts(reader);
    size_t bytes = (size_t)3 * facts->width * facts->height;
    uint8_t *first = malloc(bytes), *second = malloc(bytes);
    if (!first || !second) abort();
    zenith_status once = read_rows(reader, first), again = read_rows(reader, second);
    zn_image_pixels whole = {0};
    zn_error err = {0};
    zenith_status together = zn_image_read(data, size, options, &whole, &err);
    if (once != again || once != together) abort();
    if (once != ZENITH_OK && !err.text[0]) abort();
    if (once == ZENITH_OK &&
        (memcmp(first, second, bytes) != 0 || memcmp(first, whole.data, bytes) != 0))
        abort();
    zn_image_pixels_free(&whole);
    free(first);
    free(second);
}

static int fuzz_picture(const uint8_t *data, size_t size, zn_image_format format)
{
    if (zn_image_sniff(data, size) != format) return 0;
    zn_image_options options = zn_image_options_default();
    options.first_frame = true;
    options.limits.max_pixels = 1 << 16;
    zn_image_reader *reader = NULL;
    if (zn_image_reader_open(data, size, &options, &reader, NULL) == ZENITH_OK)
        compare(reader, data, size, &options);
    zn_image_reader_free(reader);
    return 0;
}

#endif
