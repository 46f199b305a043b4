// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See cut_out.h. The ground is filled from the border, by a list of pixels whose neighbours are
// still to be looked at.
#include "src/format/image/cut_out.h"

#include "src/base/memory.h"

#include <stdbool.h>

enum { WHITE = 255, LEAST = 200 }; // a pixel whose darkest channel is at least this may be ground

typedef struct ground {
    const uint8_t *rgb;
    uint32_t width, height;
    uint8_t *is;   // of each pixel: 1 ground
    size_t *list;  // pixels of the ground
    size_t filled; // of the list
} ground;

static uint8_t darkest(const uint8_t *pixel)
{
    const uint8_t two = pixel[0] < pixel[1] ? pixel[0] : pixel[1];
    return two < pixel[2] ? two : pixel[2];
}

static void look_at(ground *g, uint32_t x, uint32_t y)
{
    const size_t at = (size_t)y * g->width + x;
    if (g->is[at] || darkest(g->rgb + 3 * at) < LEAST) return;
    g->is[at] = 1;
    g->list[g->filled++] = at;
}

static void fill(ground *g)
{
    for (uint32_t x = 0; x < g->width; x++) {
        look_at(g, x, 0);
        look_at(g, x, g->height - 1);
    }
    for (uint32_t y = 0; y < g->height; y++) {
        look_at(g, 0, y);
        look_at(g, g->width - 1, y);
    }
    for (size_t next = 0; next < g->filled; next++) {
        const uint32_t x = (uint32_t)(g->list[next] % g->width);
        const uint32_t y = (uint32_t)(g->list[next] / g->width);
        if (x > 0) look_at(g, x - 1, y);
        if (x + 1 < g->width) look_at(g, x + 1, y);
        if (y > 0) look_at(g, x, y - 1);
        if (y + 1 < g->height) look_at(g, x, y + 1);
    }
}

// The colour that gives this pixel where it covers `alpha` of white: (pixel - (255 - alpha) white)
// / alpha.
static uint8_t uncovered(uint8_t pixel, int alpha)
{
    if (alpha == 0) return WHITE;
    const int value = WHITE - ((WHITE - pixel) * WHITE + alpha / 2) / alpha;
    return (uint8_t)(value > 0 ? value : 0);
}

static void write_pixel(const uint8_t *rgb, bool is_ground, uint8_t *rgba)
{
    const int alpha = is_ground ? (WHITE - darkest(rgb)) * WHITE / (WHITE - LEAST) : WHITE;
    for (int c = 0; c < 3; c++) rgba[c] = uncovered(rgb[c], alpha);
    rgba[3] = (uint8_t)alpha;
}

zenith_status zn_cut_out(const uint8_t *rgb, uint32_t width, uint32_t height, uint8_t *rgba,
                         zn_error *err)
{
    const size_t pixels = (size_t)width * height;
    size_t bytes;
    if (!zn_mul_size(pixels, sizeof(size_t) + 1, &bytes)) return zn_fail_memory(err, SIZE_MAX);
    size_t *list = zn_alloc(bytes);
    if (!list) return zn_fail_memory(err, bytes);
    ground g = {.rgb = rgb,
                .width = width,
                .height = height,
                .list = list,
                .is = (uint8_t *)(list + pixels)};
    for (size_t i = 0; i < pixels; i++) g.is[i] = 0;
    fill(&g);
    for (size_t i = 0; i < pixels; i++) write_pixel(rgb + 3 * i, g.is[i], rgba + 4 * i);
    zn_free(list);
    return ZENITH_OK;
}
