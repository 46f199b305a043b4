// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// NaN and infinity have an exponent of ones. Adding one to the exponent carries into the place of
// the sign for them and for nothing else, so a loop without branches gathers those bits: compilers
// make vectors of it, and it is as fast as memory.
#include "src/tensor/finite.h"

#include <string.h>

// Elements are copied, not cast: a tensor in a mapped file may lie at any address.
static bool finite_f32(const uint8_t *src, size_t n)
{
    const uint32_t exponent = 0x7f800000u, one = 0x00800000u;
    uint32_t carried = 0, bits;
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, src + i * sizeof bits, sizeof bits);
        carried |= (bits & exponent) + one;
    }
    return !(carried >> 31);
}

// bf16 and f16 differ in where the exponent begins.
static bool finite_16(const uint8_t *src, size_t n, uint16_t exponent, uint16_t one)
{
    uint16_t carried = 0, bits;
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, src + i * sizeof bits, sizeof bits);
        carried = (uint16_t)(carried | (uint16_t)((bits & exponent) + one));
    }
    return !(carried >> 15);
}

// One element at a time: weights only.
static bool finite_each(zn_type type, const void *src, size_t n)
{
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        const float value = zn_type_load(type, src, i);
        all &= value - value == 0;
    }
    return all;
}

bool zn_all_finite(zn_type type, const void *src, size_t n)
{
    switch (type) {
    case ZN_F32:
        return finite_f32(src, n);
    case ZN_BF16:
        return finite_16(src, n, 0x7f80, 0x0080);
    case ZN_BF16X2:
        return finite_16(src, 2 * n, 0x7f80, 0x0080);
    case ZN_F16:
        return finite_16(src, n, 0x7c00, 0x0400);
    case ZN_F64:
    case ZN_F8_E4M3:
    case ZN_F8_E5M2:
        return finite_each(type, src, n);
    default:
        return true;
    }
}
