// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types. Storage and compute types are separate ideas: a weight may be stored as f16 or f8
// and computed in f32. The numbers are written into no file.
#ifndef ZN_TENSOR_TYPE_H
#define ZN_TENSOR_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum zn_type {
    ZN_F32 = 0,
    ZN_BF16,
    ZN_F16,
    ZN_U8,
    ZN_S8,
    ZN_S32,
    ZN_F64,
    ZN_S64,
    ZN_F8_E4M3,
    ZN_F8_E5M2,
    ZN_S16,
    ZN_U16,
    ZN_BOOL,
    ZN_BF16X2, // the sum of two bf16, the second what the first lacks: 16 bits of precision
    ZN_TYPE_COUNT
} zn_type;

size_t zn_type_size(zn_type type);      // bytes of one element
const char *zn_type_name(zn_type type); // "f32", "bf16", ...

// One element as f32 and back, at any address. Storing rounds to nearest even and saturates
// integers (NaN becomes 0); what is too large becomes infinity, in f8_e4m3 the largest number
// (448), as in PyTorch 2.13. Quantised values are scaled by callers.
float zn_type_load(zn_type type, const void *src, size_t index);
void zn_type_store(zn_type type, void *dst, size_t index, float value);

static inline float zn_bf16_to_f32(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

// Round to nearest, ties to even; a NaN stays a (quiet) NaN.
static inline uint16_t zn_f32_to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// A float as the sum of two bf16: the nearest one in the low half, and in the high half the nearest
// to what is left (zero beside infinities and NaN).
static inline uint32_t zn_f32_to_bf16x2(float value)
{
    uint16_t high = zn_f32_to_bf16(value);
    float rest = value - zn_bf16_to_f32(high);
    uint16_t low = rest - rest == 0 ? zn_f32_to_bf16(rest) : 0;
    return (uint32_t)low << 16 | high;
}

static inline float zn_bf16x2_to_f32(uint32_t pair)
{
    return zn_bf16_to_f32((uint16_t)pair) + zn_bf16_to_f32((uint16_t)(pair >> 16));
}

float zn_f16_to_f32(uint16_t bits);
uint16_t zn_f32_to_f16(float value);
float zn_f8_e4m3_to_f32(uint8_t bits);
float zn_f8_e5m2_to_f32(uint8_t bits);

#endif
