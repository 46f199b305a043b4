// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrices that other programs have stored in 4 bits, as panels of 4 bits (panels.h): each weight
// keeps its number u. What such files have for a group of weights,
//
//     weight = factor * levels[u] + offset
//
// becomes, over the scale of the row, two numbers of 16 bits, of which products make bytes q. The
// scale is the least with which no weight of the row, whatever its u, is beyond 127. Against weight
// / scale, q is rounded to an integer, which is 1 / 2, and rounded before that three times to 1 /
// 512 at most: of the factor, of its product and of the offset. So
//
//     |q * scale - weight| <= (1 / 2 + 3 / 512) scale
#ifndef ZN_TENSOR_FOUR_PANELS_H
#define ZN_TENSOR_FOUR_PANELS_H

#include "src/tensor/row_source.h"

// Bytes of a matrix's panels in one block, and where its arrays are in it; false where that does
// not fit. `panels` begins at the block, which may be NULL, and is aligned to 64 bytes.
bool zn_four_panels_measure(const zn_fours *fours, int64_t outputs, int64_t inputs, size_t *bytes);
void zn_four_panels_place(const zn_fours *fours, int64_t outputs, int64_t inputs, const void *block,
                          zn_panels *panels);

// Scratch for zn_four_panels_pack.
size_t zn_four_panels_scratch(const zn_fours *fours, int64_t inputs);
// Row `output` of the source into panels whose block is all zero at first. Rows with numbers that
// are not finite become zeros whose scale is NaN.
void zn_four_panels_pack(const zn_row_source *rows, const zn_panels *panels, int64_t output,
                         void *scratch);
// The bytes and the scale of a row by themselves: the specification.
void zn_four_panels_row(const zn_row_source *rows, int64_t row, int64_t inputs, void *scratch,
                        int8_t *bytes, float *scale);

#endif
