// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The pictures of tools/goldens/make_metric_goldens.py: an original, and one that is softer and has
// a mesh.
#ifndef ZN_TESTS_TASK_METRIC_PICTURES_H
#define ZN_TESTS_TASK_METRIC_PICTURES_H

#include "zenith/zenith.h"

#include <stdlib.h>

static inline int original_pixel(uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t wave = (x * (5 + c) + y * 3) % 128;
    wave = wave < 64 ? wave * 3 : (127 - wave) * 3;
    uint32_t noise = (x * 73856093u) ^ (y * 19349663u) ^ (c * 83492791u);
    return (int)(wave + (noise >> 7) % 32);
}

static inline int changed_pixel(uint32_t x, uint32_t y, uint32_t c)
{
    int mean = (original_pixel(x, y, c) + original_pixel(x + 1, y, c) +
                2 * original_pixel(x, y + 1, c) + 2) /
               4;
    mean += x % 4 == 0 && y % 4 == 0 ? 9 : 0;
    return mean < 255 ? mean : 255;
}

// Free its data.
static inline zenith_image make_picture(uint32_t width, uint32_t height,
                                        int (*pixel)(uint32_t, uint32_t, uint32_t))
{
    zenith_image image = {.size = sizeof image, .width = width, .height = height};
    uint8_t *data = malloc((size_t)width * height * 3);
    image.data = data;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            for (uint32_t c = 0; c < 3; c++) *data++ = (uint8_t)pixel(x, y, c);
        }
    }
    return image;
}

#endif
