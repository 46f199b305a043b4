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

zenith_status zn_row_source_finite(const zn_row_source *rows, int64_t count, size_t columns,
                                   bool *finite, zn_error *err)
{
    *finite = true;
    if (rows->read_bytes) return ZENITH_OK;
    float *row = zn_alloc(columns * sizeof *row);
    if (!row) return zn_fail_memory(err, columns * sizeof *row);
    for (int64_t at = 0; *finite && at < count; at++) {
        rows->read(rows, at, at + 1, row);
        *finite = zn_all_finite(ZN_F32, row, columns);
    }
    zn_free(row);
    return ZENITH_OK;
}
