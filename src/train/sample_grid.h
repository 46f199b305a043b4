// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures for a person to look at: originals on the left, what the model makes of them on the
// right, between them what it saw if that was something else; one original per row, as a PNG.
#ifndef ZN_TRAIN_SAMPLE_GRID_H
#define ZN_TRAIN_SAMPLE_GRID_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

// originals: count pictures of side * side * 3 bytes; reconstructions and seen (NULL: there is none):
// the same in floats, 0 .. 1.
zenith_status zn_sample_grid_write(const char *path, const uint8_t *originals, const float *seen,
                                   const float *reconstructions, size_t count, uint32_t side,
                                   zn_error *err);

#endif
