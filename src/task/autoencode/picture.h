// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture as a model wants it: the rows of a picture file, fitted. Cropping and padding pass rows
// through as they come; resizing holds the whole picture, and is checked against the memory limit
// before anything is decoded.
#ifndef ZN_TASK_AUTOENCODE_PICTURE_H
#define ZN_TASK_AUTOENCODE_PICTURE_H

#include "src/base/status.h"
#include "src/format/image/image.h"
#include "src/task/autoencode/fit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What decides the pixels that a model sees, from file to rows (format/image/image.h,
// task/autoencode/fit.h). It changes when the same file would give other pixels.
#define ZN_PIPELINE_VERSION "1"

typedef struct zn_picture zn_picture;

// Reads the header only. `data` stays valid and unchanged until free. image->limits.max_memory
// bounds reader and fit together.
zenith_status zn_picture_open(const uint8_t *data, size_t size, const zn_image_options *image,
                              const zn_fit_options *fit, zenith_filter filter, zn_picture **out,
                              zn_error *err);
void zn_picture_free(zn_picture *picture); // NULL is fine

const zn_image_facts *zn_picture_facts(const zn_picture *picture);
const zn_fit_plan *zn_picture_plan(const zn_picture *picture);
bool zn_picture_streamed(const zn_picture *picture); // false: the whole picture is held

// Rows y .. y + count - 1 of the fitted picture, dense RGB. Rows come in order; y = 0 starts again
// from the first row at any time, also after a failure, and nothing else may follow a failure.
zenith_status zn_picture_rows(zn_picture *picture, uint32_t y, uint32_t count, uint8_t *dst,
                              zn_error *err);

#endif
