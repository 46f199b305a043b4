// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Constants whose numbers are no array of a type: matrices of weights that a file has in fewer bits. A tensor
// with rows has `data` NULL and the type f32, which is what its rows are read as.
#ifndef ZN_TENSOR_ROWS_H
#define ZN_TENSOR_ROWS_H

#include "src/tensor/panels.h"

typedef struct zn_rows {
    // Rows begin <= r < end of the matrix in f32, not rotated.
    void (*read)(const struct zn_rows *rows, int64_t begin, int64_t end, float *dst);
    const zn_panels
        *panels; // NULL: there are none; else products in 8 bits may use them as they lie
} zn_rows;

#endif
