// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A rectangle of rows and columns, for kernels that compute one at a time with scratch of its size,
// and how a larger one is cut into such: in nearly equal parts, so that none is small.
#ifndef ZN_KERNEL_AREA_H
#define ZN_KERNEL_AREA_H

#include <stdint.h>

typedef struct zn_area {
    int64_t row, rows, column, columns;
} zn_area;

typedef struct zn_areas {
    int64_t rows, columns; // of the whole
    int64_t bands, strips; // into how many parts each is cut
} zn_areas;

static inline int64_t zn_areas_count(const zn_areas *areas)
{
    return areas->bands * areas->strips;
}

// Parts of at most `most_rows` x `most_columns`; of fewer rows where there would not be `wanted` of
// them.
static inline zn_areas zn_areas_cut(int64_t rows, int64_t most_rows, int64_t columns,
                                    int64_t most_columns, int64_t wanted)
{
    zn_areas areas = {.rows = rows,
                      .columns = columns,
                      .bands = (rows + most_rows - 1) / most_rows,
                      .strips = (columns + most_columns - 1) / most_columns};
    while (zn_areas_count(&areas) < wanted && areas.bands < rows) areas.bands++;
    return areas;
}

static inline zn_area zn_areas_get(const zn_areas *areas, int64_t index)
{
    const int64_t band = index / areas->strips, strip = index % areas->strips;
    zn_area area = {.row = areas->rows * band / areas->bands,
                    .column = areas->columns * strip / areas->strips};
    area.rows = areas->rows * (band + 1) / areas->bands - area.row;
    area.columns = areas->columns * (strip + 1) / areas->strips - area.column;
    return area;
}

#endif
