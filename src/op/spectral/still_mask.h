// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is still: cells of a map over which no channel changes by as much as a bound. What a block
// does there can be left out while it runs, picture by picture; scores leave it out of all
// pictures.
#ifndef ZN_OP_STILL_MASK_H
#define ZN_OP_STILL_MASK_H

#include "src/op/spectral/tile_grid.h"

enum { ZN_STILL_SIDE = 16 }; // a cell has no fewer pixels, unless its rectangle has

// The rectangles of a grid, each divided into cells.
zn_tile_grid zn_still_cells(const zn_tile_grid *grid);

typedef struct zn_stillness {
    zn_conversion widen; // of the map to f32
    size_t channels;
    float below;
} zn_stillness;

zenith_status zn_stillness_make(const zn_kernels *kernels, const zn_desc *map, float below,
                                zn_stillness *out, zn_error *err);
size_t zn_stillness_scratch(const zn_stillness *s, int64_t width); // bytes, for cells so wide
// Whether no channel's largest and smallest value differ by `below` or more. first: the cell's
// first pixel; line: bytes from row to row.
bool zn_is_still(const zn_stillness *s, const void *first, size_t line, int64_t height,
                 int64_t width, float *scratch);

#endif
