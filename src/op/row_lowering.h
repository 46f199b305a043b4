// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Lowerings around a function on f32 rows: they convert other types, row by row in the cache.
#ifndef ZN_OP_ROW_LOWERING_H
#define ZN_OP_ROW_LOWERING_H

#include "src/graph/op.h"

// --- operators that make each row of their result from the same few rows of their inputs ---------

// One row of the result. inputs: of a map, the rows that it takes, one after the other; else the
// whole value in f32. dst may be the row of an input only where it is computed element by element.
typedef void zn_row_fn(const zn_node *node, const float *const *inputs, float *dst);

// taken: rows of a map input for each row of the result. A value that is no map is one row. Threads
// share the rows of a call.
zenith_status zn_row_lower(const zn_lowering_request *request, int taken, zn_row_fn *row,
                           zn_lowering **out, zn_error *err);

// The same for an operator whose results depend on where they are: `place` is the number of the row. It may
// lie outside the map; such a row is dropped.
typedef void zn_placed_row_fn(const zn_node *node, const float *const *inputs, int64_t place,
                              float *dst);
zenith_status zn_placed_row_lower(const zn_lowering_request *request, zn_placed_row_fn *row,
                                  zn_lowering **out, zn_error *err);

// Elements of a row of a map; of another value, all.
size_t zn_row_elements(const zn_node *node);

// `rows` of an operator that takes `taken` rows for each of its own.
static inline zn_rows zn_rows_taken(int taken, zn_rows out)
{
    return (zn_rows){out.begin * taken, out.end * taken};
}

// The sum of products of two pieces of rows, made as eight sums in a fixed order. Products of floats
// are exact in double.
double zn_row_product(const float *a, const float *b, size_t count);

// --- operators that add up all rows of their inputs (barriers) -----------------------------------

// Adds up one row of the map inputs in the sums, which are zero before.
typedef void zn_sum_row_fn(const zn_node *node, const float *const *inputs, double *sums);
// Makes the result, in f32, from the sums. values: the inputs that are no maps.
typedef void zn_sum_finish_fn(const zn_node *node, const float *const *values, const double *sums,
                              float *dst);

// finish NULL: the sums are the result. Threads share the rows; the sums of rows are added in order, so
// the bits depend on nothing else.
zenith_status zn_sum_lower(const zn_lowering_request *request, size_t sums, zn_sum_row_fn *row,
                           zn_sum_finish_fn *finish, zn_lowering **out, zn_error *err);

// `rows` and `flops` of barriers: every row, and an operation for each element of input 0.
zn_rows zn_rows_whole(const zn_node *node, int input, zn_rows out);
double zn_flops_of_input(const zn_node *node);

#endif
