// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar conversions, which are the specification (convert.h states it), and those in vectors.
// The last, partial vector goes through a buffer, so that neither array is touched outside its n
// elements.
#include "src/kernel/pointwise/convert.h"

#include "src/kernel/element.h"
#include "src/kernel/vector.h"

#include <string.h>

#ifdef ZN_BASELINE // the specification

// Adding 1.5 * 2^23 leaves no fraction bits: the addition itself rounds to nearest even. Unlike
// lrintf, SSE2 can do this in vectors.
static int quantise(float value, float low, float high)
{
    const float shift = 12582912.0f;
    float number = value == value ? value : 0.0f;
    float above = number > low ? number : low;
    float clamped = above < high ? above : high;
    return (int)((clamped + shift) - shift);
}

static void store_f32(void *dst, size_t i, float value)
{
    ((float *)dst)[i] = value;
}

static void store_bf16(void *dst, size_t i, float value)
{
    ((uint16_t *)dst)[i] = zn_f32_to_bf16(value);
}

static void store_f16(void *dst, size_t i, float value)
{
    ((uint16_t *)dst)[i] = zn_f32_to_f16(value);
}

static void store_bf16x2(void *dst, size_t i, float value)
{
    ((uint32_t *)dst)[i] = zn_f32_to_bf16x2(value);
}

static void store_u8(void *dst, size_t i, float value)
{
    ((uint8_t *)dst)[i] = (uint8_t)quantise(value, 0.0f, 255.0f);
}

static void store_s8(void *dst, size_t i, float value)
{
    ((int8_t *)dst)[i] = (int8_t)quantise(value, -128.0f, 127.0f);
}

#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))

#define CONVERT(from, to)                                                                          \
    static void from##_to_##to(const void *restrict src, float src_scale, void *restrict dst,      \
                               float dst_scale, size_t n)                                          \
    {                                                                                              \
        const float inverse = zn_convert_reciprocal(dst_scale);                                    \
        const float divisor = zn_convert_reciprocal(src_scale);                                    \
        (void)divisor;                                                                             \
        for (size_t i = 0; i < n; i++) {                                                           \
            float real = SCALED_##from(MUL, DIV, load_##from(src, i), src_scale, divisor);         \
            store_##to(dst, i, real *inverse);                                                     \
        }                                                                                          \
    }

#else // in vectors

#define CONVERT(from, to)                                                                          \
    static void from##_to_##to(const void *src, float src_scale, void *dst, float dst_scale,       \
                               size_t n)                                                           \
    {                                                                                              \
        const element_##from *in = src;                                                            \
        element_##to *out = dst;                                                                   \
        const vec scale = vec_set1(src_scale);                                                     \
        const vec divisor = vec_set1(zn_convert_reciprocal(src_scale));                            \
        const vec inverse = vec_set1(zn_convert_reciprocal(dst_scale));                            \
        (void)scale;                                                                               \
        (void)divisor;                                                                             \
        size_t i = 0;                                                                              \
        for (; i + LANES <= n; i += LANES) {                                                       \
            vec real = SCALED_##from(vec_mul, vec_div, vec_load_##from(in + i), scale, divisor);   \
            vec_store_##to(out + i, vec_mul(real, inverse));                                       \
        }                                                                                          \
        if (i == n) return;                                                                        \
        element_##from rest_in[LANES] = {0};                                                       \
        element_##to rest_out[LANES];                                                              \
        memcpy(rest_in, in + i, (n - i) * sizeof *in);                                             \
        vec real = SCALED_##from(vec_mul, vec_div, vec_load_##from(rest_in), scale, divisor);      \
        vec_store_##to(rest_out, vec_mul(real, inverse));                                          \
        memcpy(out + i, rest_out, (n - i) * sizeof *out);                                          \
    }

#endif

// Both make of CONVERT(from, to) one function from_to_to, of each pair of types that is served.
#define CONVERT_FROM(from)                                                                         \
    CONVERT(from, f32)                                                                             \
    CONVERT(from, bf16)                                                                            \
    CONVERT(from, f16)                                                                             \
    CONVERT(from, u8)                                                                              \
    CONVERT(from, s8)

CONVERT_FROM(f32)
CONVERT_FROM(bf16)
CONVERT_FROM(f16)
CONVERT_FROM(u8)
CONVERT_FROM(s8)
CONVERT(f32, bf16x2)
CONVERT(bf16x2, f32)

#define CONVERT_ROW(from)                                                                          \
    {                                                                                              \
        [ZN_F32] = from##_to_f32, [ZN_BF16] = from##_to_bf16, [ZN_F16] = from##_to_f16,            \
        [ZN_U8] = from##_to_u8, [ZN_S8] = from##_to_s8                                             \
    }
#define CONVERT_ROW_F32                                                                            \
    {                                                                                              \
        [ZN_F32] = f32_to_f32, [ZN_BF16] = f32_to_bf16, [ZN_F16] = f32_to_f16,                     \
        [ZN_U8] = f32_to_u8, [ZN_S8] = f32_to_s8, [ZN_BF16X2] = f32_to_bf16x2                      \
    }

static zn_convert_fn *const convert_pairs[ZN_TYPE_COUNT][ZN_TYPE_COUNT] = {
    [ZN_F32] = CONVERT_ROW_F32,    [ZN_BF16X2] = {[ZN_F32] = bf16x2_to_f32},
    [ZN_BF16] = CONVERT_ROW(bf16), [ZN_F16] = CONVERT_ROW(f16),
    [ZN_U8] = CONVERT_ROW(u8),     [ZN_S8] = CONVERT_ROW(s8),
};

zn_convert_fn *VERSION(zn_convert)(zn_type from, zn_type to)
{
    return convert_pairs[from][to];
}
