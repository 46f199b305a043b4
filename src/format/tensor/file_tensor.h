// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One tensor of a mapped file, whatever kind of file it is: a name, a shape, and bytes that hold
// either plain elements of a type or rows of quantised blocks.
#ifndef ZN_FORMAT_TENSOR_FILE_TENSOR_H
#define ZN_FORMAT_TENSOR_FILE_TENSOR_H

#include "src/base/status.h"
#include "src/format/tensor/block_types.h"
#include "src/tensor/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct zn_file_tensor {
    const char *name;
    const char *dtype;           // as the file spells it: "BF16", "Q4_K"; not needed for writing
    zn_type type;                // meaningful when supported
    bool supported;              // false: the elements are of no type of ours (U32, blocks)
    const zn_block_type *blocks; // each row is a run of these; NULL for plain elements
    zn_shape shape;
    const uint8_t *data; // perhaps unaligned; never NULL in an open file
    size_t bytes;
} zn_file_tensor;

// Whether the values can be had as f32: plain elements of a type of ours, or blocks.
bool zn_file_tensor_readable(const zn_file_tensor *tensor);

// Rows are along the last dimension; a scalar is one row of one element. `rows` is 0 where an
// element is none. False where the product of the dimensions is too large.
bool zn_file_tensor_rows(const zn_file_tensor *tensor, size_t *rows, size_t *columns);

// Rows begin <= r < end of a readable tensor as f32.
void zn_file_tensor_read_rows(const zn_file_tensor *tensor, size_t begin, size_t end, float *dst);

// The whole tensor as f32, in the file's order of elements, into room for as many floats as its
// shape has elements. ZENITH_UNSUPPORTED for a type we have not. dst needs no more than its own
// alignment; the data needs none.
zenith_status zn_file_tensor_read(const zn_file_tensor *tensor, float *dst, zn_error *err);

#endif
