// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators share that make `factor` rows of each row of a map: which rows they need, and the
// lowering around their kernel, which divides the rows of a call among the threads.
#ifndef ZN_OP_ENLARGE_LOWERING_H
#define ZN_OP_ENLARGE_LOWERING_H

#include "src/graph/op.h"

typedef struct zn_enlarging {
    int factor;
    int64_t width, channels; // of the source
    size_t element_bytes;
    bool columns, whole; // of pixel_shuffle
} zn_enlarging;

// Writes `rows` rows of the result, from first_row on, which may be negative; src points at the
// source row floor(first_row / factor).
typedef void zn_enlarge_fn(const zn_enlarging *how, const void *src, void *dst, int64_t first_row,
                           int64_t rows);

zn_rows zn_enlarge_rows(int factor, zn_rows out);
zn_enlarging zn_enlarging_of(const zn_desc *x, int factor);
zenith_status zn_enlarge_lower(const zn_lowering_request *request, const zn_enlarging *how,
                               zn_enlarge_fn *kernel, zn_lowering **out, zn_error *err);

#endif
