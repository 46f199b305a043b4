// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar conversions, which are the specification (convert.h states it), and the choice of a
// version.
#include "src/kernel/convert.h"

#include "src/kernel/element.h"

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

#include "src/kernel/convert_pairs.h"

static zn_convert_fn *convert_scalar(zn_type from, zn_type to)
{
    return convert_pairs[from][to];
}

static const struct {
    zn_isa isa;
    zn_convert_fn *(*find)(zn_type from, zn_type to);
} versions[] = {
    {ZN_ISA_BASELINE, convert_scalar},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_convert_avx2},
    {ZN_ISA_AVX512, zn_convert_avx512},
#endif
};

zn_convert_fn *zn_convert_pick(zn_isa isa, zn_type from, zn_type to)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].find(from, to);
}
