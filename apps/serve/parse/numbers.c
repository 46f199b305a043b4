// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See numbers.h. The library's own conversions are not part of its interface; these are plain
// loops, and nothing beside a network's work.
#include "apps/serve/parse/numbers.h"

#include <math.h>
#include <string.h>

const char *serve_number_name(zenith_number number)
{
    switch (number) {
    case ZENITH_U8:
        return "uint8";
    case ZENITH_F16:
        return "float16";
    case ZENITH_BF16:
        return "bfloat16";
    default:
        return "float32";
    }
}

size_t serve_number_size(zenith_number number)
{
    switch (number) {
    case ZENITH_U8:
        return 1;
    case ZENITH_F16:
    case ZENITH_BF16:
        return 2;
    default:
        return 4;
    }
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float from_f16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = half >> 10 & 31;
    const uint32_t fraction = half & 1023;
    if (exponent == 31) return from_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent > 0) return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    const float small = ldexpf((float)fraction, -24);
    return sign ? -small : small;
}

// Rounds to the nearest, ties to even; what is too large becomes infinity.
static uint16_t to_f16(float value)
{
    const uint32_t bits = to_bits(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return (uint16_t)(sign | 0x7e00);    // NaN
    if (size >= 0x47800000) return (uint16_t)(sign | 0x7c00);   // 65536 and more
    if (size < 0x38800000) {                                    // below 2^-14: steps of 2^-24
        const float steps = rintf(ldexpf(from_bits(size), 24)); // exact but for the rounding
        return (uint16_t)(sign | (uint32_t)steps);
    }
    const uint32_t rounded = size + 0xfff + (size >> 13 & 1);
    return (uint16_t)(sign | ((rounded >> 13) - (112u << 10)));
}

static uint16_t to_bf16(float value)
{
    const uint32_t bits = to_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40); // NaN
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void serve_numbers_widen(zenith_number number, const void *src, size_t count, float *dst)
{
    const uint8_t *bytes = src;
    if (number == ZENITH_F32 || number == ZENITH_NUMBER_DEFAULT) memmove(dst, src, count * 4);
    if (number != ZENITH_F16 && number != ZENITH_BF16) return;
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, bytes + 2 * i, sizeof half);
        dst[i] = number == ZENITH_F16 ? from_f16(half) : from_bits((uint32_t)half << 16);
    }
}

void serve_numbers_narrow(zenith_number number, const float *src, size_t count, void *dst)
{
    uint8_t *bytes = dst;
    if (number == ZENITH_F32 || number == ZENITH_NUMBER_DEFAULT) memmove(dst, src, count * 4);
    if (number != ZENITH_F16 && number != ZENITH_BF16) return;
    for (size_t i = 0; i < count; i++) {
        const uint16_t half = number == ZENITH_F16 ? to_f16(src[i]) : to_bf16(src[i]);
        memcpy(bytes + 2 * i, &half, sizeof half);
    }
}
