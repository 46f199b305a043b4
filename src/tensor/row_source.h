// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Constants whose numbers are no array of a type: matrices of weights that a file has in fewer
// bits. A tensor with a row source has `data` NULL and the type f32, which is what its rows are
// read as.
#ifndef ZN_TENSOR_ROW_SOURCE_H
#define ZN_TENSOR_ROW_SOURCE_H

#include "src/base/status.h"
#include "src/tensor/panels.h"

typedef struct zn_row_source zn_row_source;

// A row that is stored in 4 bits (four_panels.h).
typedef struct zn_four_row {
    uint8_t *numbers; // [inputs], 0 .. 15
    float *factors;   // [inputs / group]
    float *offsets;   // the same; of fours without offsets it is not written
} zn_four_row;

typedef struct zn_fours {
    // One row; NULL: there are none.
    void (*read)(const zn_row_source *rows, int64_t row, const zn_four_row *dst);
    const int8_t *levels; // 16 of them, of both signs
    int64_t group;        // inputs that share a factor: divides 128 and the inputs, a multiple of 8
    bool offsets;
} zn_fours;

struct zn_row_source {
    size_t bytes; // of the struct that begins with this one: a graph keeps a copy of the whole
    // Rows begin <= r < end of the matrix in f32, not rotated.
    void (*read)(const zn_row_source *rows, int64_t begin, int64_t end, float *dst);
    // NULL, or the same rows as bytes with a sign and a scale for each row, rotated by `rotated_by`
    // (panels.h): what products in 8 bits take without rounding.
    void (*read_bytes)(const zn_row_source *rows, int64_t begin, int64_t end, int8_t *dst,
                       float *scales);
    int64_t rotated_by;
    const void *address; // of the numbers, which no other matrix has: packed forms are found by it
    zn_fours fours;      // what products in 8 bits keep in 4 where there are no bytes
    zn_panels panels;    // bits 0: there are none; else products in 8 bits use them as they lie
};

// One number of the matrix, for reference loops; NaN when there is no memory for its row.
float zn_row_source_value(const zn_row_source *rows, size_t columns, size_t index);
// Whether all rows are finite. Bytes are, with scales that were looked at when the file was opened.
zenith_status zn_row_source_finite(const zn_row_source *rows, int64_t count, size_t columns,
                                   bool *finite, zn_error *err);

#endif
