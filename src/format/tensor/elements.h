// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements as a file has them: little-endian, at any address. Files of tensors (safetensors, npy)
// are mapped and read in place, and nothing obliges their writers to align a tensor for its type.
#ifndef ZN_FORMAT_TENSOR_ELEMENTS_H
#define ZN_FORMAT_TENSOR_ELEMENTS_H

#include "src/tensor/type.h"

#include <stddef.h>
#include <stdint.h>

// dst[i] = element first + i of data, for i < count.
void zn_elements_to_f32(zn_type type, const uint8_t *data, size_t first, size_t count, float *dst);

// The other way, into the bytes of a file: count elements of `type` at dst, rounded to nearest.
void zn_elements_from_f32(zn_type type, const float *src, size_t count, uint8_t *dst);

#endif
