// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The rectangles of tile_mask: a map cut into rows x columns of them.
#ifndef ZN_OP_TILE_GRID_H
#define ZN_OP_TILE_GRID_H

#include "src/graph/op.h"
#include "src/op/convert_parallel.h"

#include <string.h>

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

// Rectangle `index`: rows from top to before bottom, columns from left to before right.
typedef struct zn_tile_area {
    int64_t top, bottom, left, right;
} zn_tile_area;

static inline zn_tile_area zn_tile_grid_area(const zn_tile_grid *grid, int64_t index)
{
    const int64_t row = index / grid->columns, column = index % grid->columns;
    return (zn_tile_area){zn_tile_grid_edge(row, grid->rows, grid->height),
                          zn_tile_grid_edge(row + 1, grid->rows, grid->height),
                          zn_tile_grid_edge(column, grid->columns, grid->width),
                          zn_tile_grid_edge(column + 1, grid->columns, grid->width)};
}

// `count` values of a rectangle's row: zeros where it is masked, else a copy, in the result's type.
static inline void zn_tile_take(const zn_conversion *c, bool masked, const void *src, void *dst,
                                size_t count)
{
    if (masked)
        memset(dst, 0, count * zn_type_size(c->to));
    else if (c->from == c->to && c->from_scale == c->to_scale)
        memcpy(dst, src, count * zn_type_size(c->to));
    else
        c->run(src, c->from_scale, dst, c->to_scale, count);
}

// Input `input` is [rows, columns], neither below 1.
zenith_status zn_check_scores(const zn_node *node, int input, zn_error *err);

#endif
