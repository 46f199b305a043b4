// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/row_source.h"

#include "src/base/memory.h"
#include "src/tensor/finite.h"

#include <math.h>

float zn_row_source_value(const zn_row_source *rows, size_t columns, size_t index)
{
    float *row = zn_alloc(columns * sizeof *row);
    if (!row) return NAN;
    const int64_t at = (int64_t)(index / columns);
    rows->read(rows, at, at + 1, row);
    const float value = row[index % columns];
    zn_free(row);
    return value;
}

bool zn_row_source_finite(const zn_row_source *rows, size_t columns, int64_t begin, int64_t end)
{
    if (rows->panels.bits) // integers times scales
        return zn_all_finite(ZN_F32, rows->panels.scales + begin, (size_t)(end - begin));
    float *row = zn_alloc(columns * sizeof *row);
    bool finite = row != NULL;
    for (int64_t at = begin; finite && at < end; at++) {
        rows->read(rows, at, at + 1, row);
        finite = zn_all_finite(ZN_F32, row, columns);
    }
    zn_free(row);
    return finite;
}
