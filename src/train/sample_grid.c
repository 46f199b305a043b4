// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/sample_grid.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/format/image.h"
#include "src/tensor/type.h"

#include <string.h>

enum { GAP = 4 }; // white pixels between pictures

static zenith_status write_rows(zn_image_writer *image, const uint8_t *originals,
                                const float *reconstructions, size_t count, uint32_t side,
                                uint8_t *row, zn_error *err)
{
    const size_t width = (size_t)side * 3, whole = 2 * width + GAP * 3;
    for (size_t y = 0; y < count * side; y++) {
        memset(row, 255, whole);
        if (y > 0 && y % side == 0)
            for (int i = 0; i < GAP; i++) ZN_TRY(zn_image_writer_rows(image, 1, row, whole, err));
        memcpy(row, originals + y * width, width);
        for (size_t i = 0; i < width; i++)
            zn_type_store(ZN_U8, row + width + GAP * 3, i, reconstructions[y * width + i] * 255);
        ZN_TRY(zn_image_writer_rows(image, 1, row, whole, err));
    }
    return zn_image_writer_finish(image, err);
}

zenith_status zn_sample_grid_write(const char *path, const uint8_t *originals,
                                   const float *reconstructions, size_t count, uint32_t side,
                                   zn_error *err)
{
    const zn_image_write_options options = {.format = ZN_IMAGE_PNG, .level = -1};
    const uint32_t height = (uint32_t)count * (side + GAP) - GAP;
    zn_writer *file = NULL;
    zn_image_writer *image = NULL;
    zenith_status status;
    uint8_t *row = zn_alloc(((size_t)2 * side + GAP) * 3);
    if (!row) return zn_fail_memory(err, ((size_t)2 * side + GAP) * 3);
    ZN_GO(zn_writer_open(path, &file, err));
    ZN_GO(zn_image_writer_open(file, 2 * side + GAP, height, &options, &image, err));
    ZN_GO(write_rows(image, originals, reconstructions, count, side, row, err));
    zn_image_writer_free(image);
    zn_free(row);
    return zn_writer_commit(file, err);
fail:
    zn_image_writer_free(image);
    zn_writer_discard(file);
    zn_free(row);
    return status;
}
