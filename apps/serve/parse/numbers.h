// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of tensors on the wire: little endian, by the names that PyTorch gives their types.
#ifndef ZN_SERVE_PARSE_NUMBERS_H
#define ZN_SERVE_PARSE_NUMBERS_H

#include "zenith/zenith.h"

const char *serve_number_name(zenith_number number); // "float32"; U8: "uint8"
size_t serve_number_size(zenith_number number);

// count numbers; src and dst may be the same memory where the numbers do not grow.
void serve_numbers_widen(zenith_number number, const void *src, size_t count, float *dst);
void serve_numbers_narrow(zenith_number number, const float *src, size_t count, void *dst);

#endif
