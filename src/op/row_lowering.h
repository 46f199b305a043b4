// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Lowerings around a function on f32 rows or pixels, which the operator's descriptor names
// (graph/op.h): they convert other types piece by piece, in the cache, so that memory is read and
// written once.
#ifndef ZN_OP_ROW_LOWERING_H
#define ZN_OP_ROW_LOWERING_H

#include "src/graph/op.h"

// A row at a time, by zn_op.row or placed_row; or by pixels, for operators whose vectors may be
// those of a row (zn_modulates_columns). Threads share the rows of a call.
zenith_status zn_row_lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err);

// By zn_op.pixels: as many pixels as stay in the first cache. Maps among the inputs have as many
// pixels as the result, in the same order.
zenith_status zn_pixel_lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err);

// By zn_op.add_row and finish. Threads share the rows; the sums of rows are added in order, so the
// bits depend on nothing else.
zenith_status zn_sum_lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err);

// Elements of a row, or of a pixel, of a map; of another value, all.
size_t zn_row_elements(const zn_node *node);
size_t zn_pixel_elements(const zn_node *node);

// `rows` of an operator that takes `taken` rows for each of its own.
static inline zn_rows zn_rows_taken(int taken, zn_rows out)
{
    return (zn_rows){out.begin * taken, out.end * taken};
}

// The sum of products of two pieces of rows, made as eight sums in a fixed order. Products of
// floats are exact in double.
double zn_row_product(const float *a, const float *b, size_t count);

// `rows` and `flops` of barriers: every row, and an operation for each element of input 0.
zn_rows zn_rows_whole(const zn_node *node, int input, zn_rows out);
double zn_flops_of_input(const zn_node *node);

#endif
