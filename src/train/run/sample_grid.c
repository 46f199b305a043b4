// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/run/sample_grid.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/format/image/image.h"
#include "src/tensor/type.h"

#include <string.h>

enum { GAP = 4 }; // white pixels between pictures

typedef struct grid {
    const uint8_t *originals;
    const float *const *made; // columns behind the originals
    size_t columns;
    size_t count, side;
} grid;

static size_t row_pixels(const grid *g)
{
    return g->side + g->columns * (GAP + g->side);
}

static void fill_row(const grid *g, size_t y, uint8_t *row)
{
    const size_t width = g->side * 3;
    memcpy(row, g->originals + y * width, width);
    for (size_t k = 0; k < g->columns; k++) {
        row += width + GAP * 3;
        for (size_t i = 0; i < width; i++)
            zn_type_store(ZN_U8, row, i, g->made[k][y * width + i] * 255);
    }
}

static zenith_status write_rows(zn_image_writer *image, const grid *g, uint8_t *row, zn_error *err)
{
    const size_t side = g->side, whole = row_pixels(g) * 3;
    for (size_t y = 0; y < g->count * side; y++) {
        memset(row, 255, whole);
        if (y > 0 && y % side == 0)
            for (int i = 0; i < GAP; i++) ZN_TRY(zn_image_writer_rows(image, 1, row, whole, err));
        fill_row(g, y, row);
        ZN_TRY(zn_image_writer_rows(image, 1, row, whole, err));
    }
    return zn_image_writer_finish(image, err);
}

zenith_status zn_sample_grid_write(const char *path, const uint8_t *originals,
                                   const float *const *made, size_t columns, size_t count,
                                   uint32_t side, zn_error *err)
{
    const grid g = {
        .originals = originals, .made = made, .columns = columns, .count = count, .side = side};
    const zn_image_write_options options = {.format = ZN_IMAGE_PNG, .level = -1};
    const uint32_t height = (uint32_t)count * (side + GAP) - GAP;
    zn_writer *file = NULL;
    zn_image_writer *image = NULL;
    zenith_status status;
    uint8_t *row = zn_alloc(row_pixels(&g) * 3);
    if (!row) return zn_fail_memory(err, row_pixels(&g) * 3);
    ZN_GO(zn_writer_open(path, &file, err));
    ZN_GO(zn_image_writer_open(file, (uint32_t)row_pixels(&g), height, &options, &image, err));
    ZN_GO(write_rows(image, &g, row, err));
    zn_image_writer_free(image);
    zn_free(row);
    return zn_writer_commit(file, err);
fail:
    zn_image_writer_free(image);
    zn_writer_discard(file);
    zn_free(row);
    return status;
}
