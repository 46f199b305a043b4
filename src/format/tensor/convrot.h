// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The rotation of INT8 "convrot" weights: each run of G input features is multiplied by
//   R = H x H x ... x H / sqrt(G)   (a Kronecker product),   H = [ 1  1  1 -1 ]
// where G is a power of four. R is symmetric and its own        [ 1  1 -1  1 ]
// inverse, so W = (W R) R: rotating what is stored gives        [ 1 -1  1  1 ]
// the weights for inputs that are not rotated.                  [-1  1  1  1 ]
#ifndef ZN_FORMAT_TENSOR_CONVROT_H
#define ZN_FORMAT_TENSOR_CONVROT_H

#include <stdbool.h>
#include <stddef.h>

#define ZN_CONVROT_MOST 1024

bool zn_convrot_group(size_t group); // a power of four from 4 to ZN_CONVROT_MOST

// Rotates each run of `group` of a row in place; `columns` is a multiple of it. Each result is the
// sum of the group's products in their order, rounded to f32 after each: the specification of
// faster forms.
void zn_convrot_row(float *row, size_t columns, size_t group);

// The same by H alone, once for each power of four: 64 times less work for a group of 256, and
// rounded otherwise.
void zn_convrot_quick(float *row, size_t columns, size_t group);

#endif
