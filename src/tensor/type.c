// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The small floats (f16 and both f8) are one algorithm with two numbers: bits of exponent and bits
// of fraction. f8_e4m3 differs in its top end (the "fn" variant of OCP and PyTorch): it has no
// infinity, only the all-ones pattern is NaN, and what is too large becomes the largest number.
// That, and one NaN for every NaN in f8, is what PyTorch 2.13 does; before, it made NaN.
#include "src/tensor/type.h"

#include <math.h>

typedef struct small_float {
    int exponent_bits;
    int fraction_bits;
    bool infinity; // the highest exponent is for infinity and NaN
    bool payload;  // a NaN keeps the upper bits of its fraction; else it is all ones
} small_float;

static const small_float f16 = {5, 10, true, true};
static const small_float e4m3 = {4, 3, false, false};
static const small_float e5m2 = {5, 2, true, false};

static const struct {
    size_t size;
    const char *name;
} types[ZN_TYPE_COUNT] = {
    [ZN_F32] = {4, "f32"},         [ZN_BF16] = {2, "bf16"},     [ZN_F16] = {2, "f16"},
    [ZN_U8] = {1, "u8"},           [ZN_S8] = {1, "s8"},         [ZN_S32] = {4, "s32"},
    [ZN_F64] = {8, "f64"},         [ZN_S64] = {8, "s64"},       [ZN_F8_E4M3] = {1, "f8_e4m3"},
    [ZN_F8_E5M2] = {1, "f8_e5m2"}, [ZN_S16] = {2, "s16"},       [ZN_U16] = {2, "u16"},
    [ZN_BOOL] = {1, "bool"},       [ZN_BF16X2] = {4, "bf16x2"},
};

static bool known(zn_type type)
{
    return (unsigned)type < ZN_TYPE_COUNT;
}

size_t zn_type_size(zn_type type)
{
    return known(type) ? types[type].size : 0;
}

const char *zn_type_name(zn_type type)
{
    return known(type) ? types[type].name : "unknown";
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int bias_of(small_float kind)
{
    return (1 << (kind.exponent_bits - 1)) - 1;
}

// The largest pattern without sign, and the first one that is no number.
static uint32_t not_a_number(small_float kind)
{
    uint32_t ones = (1u << (kind.exponent_bits + kind.fraction_bits)) - 1;
    return kind.infinity ? ones ^ ((1u << kind.fraction_bits) - 1) : ones;
}

static float widen(small_float kind, uint32_t bits)
{
    int width = kind.exponent_bits + kind.fraction_bits, shift = 23 - kind.fraction_bits;
    uint32_t sign = (bits >> width & 1) << 31, magnitude = bits & ((1u << width) - 1);
    uint32_t top = not_a_number(kind);
    if (magnitude >= top) {
        bool infinite = kind.infinity && magnitude == top;
        uint32_t payload = kind.infinity ? (magnitude - top) << shift : 0;
        return float_of(sign | 0x7f800000u | (infinite ? 0 : 0x00400000u | payload));
    }
    int bias = bias_of(kind);
    if (magnitude >> kind.fraction_bits == 0) {
        float value = ldexpf((float)magnitude, 1 - bias - kind.fraction_bits);
        return float_of(sign | bits_of(value));
    }
    return float_of(sign | ((magnitude << shift) + ((uint32_t)(127 - bias) << 23)));
}

// value / 2^shift, to nearest, ties to even.
static uint32_t shift_rounding(uint32_t value, int shift)
{
    if (shift > 31) return 0;
    uint32_t half = (1u << (shift - 1)) - 1, odd = value >> shift & 1;
    return (value + half + odd) >> shift;
}

static uint32_t narrow(small_float kind, float value)
{
    int width = kind.exponent_bits + kind.fraction_bits, shift = 23 - kind.fraction_bits;
    uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffffu;
    uint32_t sign = bits >> 31 << width, top = not_a_number(kind);
    if (magnitude > 0x7f800000u) {
        if (!kind.payload) return sign | ((1u << width) - 1);
        uint32_t payload = (magnitude & 0x7fffffu) >> shift;
        return sign | top | 1u << (kind.fraction_bits - 1) | payload;
    }
    int exponent = (int)(magnitude >> 23) - 127 + bias_of(kind);
    uint32_t rounded;
    if (exponent >= 1) {
        uint32_t rebased = magnitude - ((uint32_t)(127 - bias_of(kind)) << 23);
        rounded = shift_rounding(rebased, shift);
    } else {
        // Below the smallest normal number the leading one becomes a stored bit.
        rounded = shift_rounding((magnitude & 0x7fffffu) | 0x800000u, shift + 1 - exponent);
    }
    uint32_t largest = kind.infinity ? top : top - 1;
    return sign | (rounded < largest ? rounded : largest);
}

float zn_f16_to_f32(uint16_t bits)
{
    return widen(f16, bits);
}

uint16_t zn_f32_to_f16(float value)
{
    return (uint16_t)narrow(f16, value);
}

float zn_f8_e4m3_to_f32(uint8_t bits)
{
    return widen(e4m3, bits);
}

float zn_f8_e5m2_to_f32(uint8_t bits)
{
    return widen(e5m2, bits);
}

// The nearest integer within [low, high]; both are exact as float or lie just past what fits.
static int64_t to_integer(float value, int64_t low, int64_t high)
{
    if (isnan(value)) return 0;
    float rounded = rintf(value);
    if (rounded <= (float)low) return low;
    if (rounded >= (float)high) return high;
    return (int64_t)rounded;
}

// Elements are copied, not cast: a tensor in a mapped file may lie at any address.
#define LOAD(ctype, expression)                                                                    \
    do {                                                                                           \
        ctype x;                                                                                   \
        memcpy(&x, (const uint8_t *)src + index * sizeof x, sizeof x);                             \
        return (float)(expression);                                                                \
    } while (0)

float zn_type_load(zn_type type, const void *src, size_t index)
{
    switch (type) {
    case ZN_F32:
        LOAD(float, x);
    case ZN_BF16:
        LOAD(uint16_t, zn_bf16_to_f32(x));
    case ZN_F16:
        LOAD(uint16_t, zn_f16_to_f32(x));
    case ZN_U8:
        LOAD(uint8_t, x);
    case ZN_S8:
        LOAD(int8_t, x);
    case ZN_S32:
        LOAD(int32_t, x);
    case ZN_F64:
        LOAD(double, x);
    case ZN_S64:
        LOAD(int64_t, x);
    case ZN_F8_E4M3:
        LOAD(uint8_t, zn_f8_e4m3_to_f32(x));
    case ZN_F8_E5M2:
        LOAD(uint8_t, zn_f8_e5m2_to_f32(x));
    case ZN_S16:
        LOAD(int16_t, x);
    case ZN_U16:
        LOAD(uint16_t, x);
    case ZN_BOOL:
        LOAD(uint8_t, x != 0);
    case ZN_BF16X2:
        LOAD(uint32_t, zn_bf16x2_to_f32(x));
    case ZN_TYPE_COUNT:
        break;
    }
    return 0;
}

#define STORE(ctype, expression)                                                                   \
    do {                                                                                           \
        ctype x = (ctype)(expression);                                                             \
        memcpy((uint8_t *)dst + index * sizeof x, &x, sizeof x);                                   \
        return;                                                                                    \
    } while (0)

void zn_type_store(zn_type type, void *dst, size_t index, float value)
{
    switch (type) {
    case ZN_F32:
        STORE(float, value);
    case ZN_BF16:
        STORE(uint16_t, zn_f32_to_bf16(value));
    case ZN_F16:
        STORE(uint16_t, zn_f32_to_f16(value));
    case ZN_U8:
        STORE(uint8_t, to_integer(value, 0, UINT8_MAX));
    case ZN_S8:
        STORE(int8_t, to_integer(value, INT8_MIN, INT8_MAX));
    case ZN_S32:
        STORE(int32_t, to_integer(value, INT32_MIN, INT32_MAX));
    case ZN_F64:
        STORE(double, value);
    case ZN_S64:
        STORE(int64_t, to_integer(value, INT64_MIN, INT64_MAX));
    case ZN_F8_E4M3:
        STORE(uint8_t, narrow(e4m3, value));
    case ZN_F8_E5M2:
        STORE(uint8_t, narrow(e5m2, value));
    case ZN_S16:
        STORE(int16_t, to_integer(value, INT16_MIN, INT16_MAX));
    case ZN_U16:
        STORE(uint16_t, to_integer(value, 0, UINT16_MAX));
    case ZN_BOOL:
        STORE(uint8_t, value != 0 && !isnan(value));
    case ZN_BF16X2:
        STORE(uint32_t, zn_f32_to_bf16x2(value));
    case ZN_TYPE_COUNT:
        break;
    }
}
