// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures for a person to look at: originals on the left, what was made of them in columns beside
// them; one original per row, as a PNG.
#ifndef ZN_TRAIN_RUN_SAMPLE_GRID_H
#define ZN_TRAIN_RUN_SAMPLE_GRID_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { ZN_GRID_COLUMNS = 4 };

// originals: count pictures of side * side * 3 bytes; each column the same in floats, 0 .. 1.
zenith_status zn_sample_grid_write(const char *path, const uint8_t *originals,
                                   const float *const *made, size_t columns, size_t count,
                                   uint32_t side, zn_error *err);

#endif
