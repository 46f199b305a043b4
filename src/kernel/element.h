// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types by the short names that macros paste together: the C type of each, and one stored
// element as f32, unscaled, which is how the scalar versions read.
#ifndef ZN_KERNEL_ELEMENT_H
#define ZN_KERNEL_ELEMENT_H

#include "src/tensor/type.h"

typedef float element_f32;
typedef uint16_t element_bf16;
typedef uint16_t element_f16;
typedef uint32_t element_bf16x2;
typedef uint8_t element_u8;
typedef int8_t element_s8;

// A loaded element as the number it stands for; see convert.h.
#define SCALED_f32(op_mul, op_div, x, scale, divisor)    op_mul(x, scale)
#define SCALED_bf16(op_mul, op_div, x, scale, divisor)   op_mul(x, scale)
#define SCALED_bf16x2(op_mul, op_div, x, scale, divisor) op_mul(x, scale)
#define SCALED_f16(op_mul, op_div, x, scale, divisor)    op_mul(x, scale)
#define SCALED_u8(op_mul, op_div, x, scale, divisor)     op_div(x, divisor)
#define SCALED_s8(op_mul, op_div, x, scale, divisor)     op_div(x, divisor)

static inline float load_f32(const void *src, size_t i)
{
    return ((const float *)src)[i];
}

static inline float load_bf16(const void *src, size_t i)
{
    return zn_bf16_to_f32(((const uint16_t *)src)[i]);
}

static inline float load_f16(const void *src, size_t i)
{
    return zn_f16_to_f32(((const uint16_t *)src)[i]);
}

static inline float load_bf16x2(const void *src, size_t i)
{
    return zn_bf16x2_to_f32(((const uint32_t *)src)[i]);
}

static inline float load_u8(const void *src, size_t i)
{
    return (float)((const uint8_t *)src)[i];
}

static inline float load_s8(const void *src, size_t i)
{
    return (float)((const int8_t *)src)[i];
}

#endif
