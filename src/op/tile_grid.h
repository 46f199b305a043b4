// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The rectangles of tile_mask: a map cut into rows x columns of them.
#ifndef ZN_OP_TILE_GRID_H
#define ZN_OP_TILE_GRID_H

#include "src/graph/op.h"
#include "src/op/conv_weights.h"
#include "src/op/convert_parallel.h"

typedef struct zn_tile_grid {
    int64_t rows, columns; // of rectangles
    int64_t height, width; // of the map
} zn_tile_grid;

static inline zn_tile_grid zn_tile_grid_of(const zn_shape *scores, const int64_t *map)
{
    return (zn_tile_grid){scores->dim[0], scores->dim[1], map[1], map[2]};
}

// The rectangle of a pixel.
static inline int64_t zn_tile_grid_at(const zn_tile_grid *grid, int64_t y, int64_t x)
{
    return y * grid->rows / grid->height * grid->columns + x * grid->columns / grid->width;
}

// The first pixel of rectangle `index` of `count` along a side of `length`.
static inline int64_t zn_tile_grid_edge(int64_t index, int64_t count, int64_t length)
{
    return (index * length + count - 1) / count;
}

// Input `input` is [rows, columns], neither below 1.
zenith_status zn_check_scores(const zn_node *node, int input, zn_error *err);

#endif
