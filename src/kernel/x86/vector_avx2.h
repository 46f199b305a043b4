// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Eight f32 lanes in AVX2, under the names that kernels are written in (vector.h). vector_avx512.h
// has the same names: a kernel is compiled once with each. Everything is static, so that nothing
// built with these flags can be linked into code for older CPUs.
//
// Loading gives the stored value as f32, unscaled. Storing rounds to nearest even (the current
// rounding mode is taken to be the default one); integers saturate and NaN becomes 0.
#ifndef ZN_KERNEL_X86_VECTOR_AVX2_H
#define ZN_KERNEL_X86_VECTOR_AVX2_H

#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "this file needs -mavx2 -mfma -mf16c"
#endif

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VERSION(name) name##_avx2
#define VERSION_NAME  "avx2"
#define LANES         8
#define CONV_PIXELS   6 // x 2 vectors: 12 accumulators, 2 weights and a pixel, 15 of 16 registers

typedef __m256 vec;
typedef __m256d vec_f64; // LANES / 2 of them

static inline vec vec_set1(float value)
{
    return _mm256_set1_ps(value);
}

static inline vec vec_zero(void)
{
    return _mm256_setzero_ps();
}

static inline vec vec_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}

static inline vec vec_sub(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}

static inline vec vec_div(vec a, vec b)
{
    return _mm256_div_ps(a, b);
}

static inline vec vec_mul(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}

static inline vec vec_fmadd(vec a, vec b, vec c) // a * b + c, rounded once
{
    return _mm256_fmadd_ps(a, b, c);
}

// sum + a * b, rounded once, in the register of the sum: gcc 12 would choose another for the
// result, and copy or store sums to make room where nearly all registers hold one.
static inline vec vec_add_product(vec sum, vec a, vec b)
{
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
}

static inline vec vec_max(vec a, vec b) // b where one of them is NaN
{
    return _mm256_max_ps(a, b);
}

static inline vec vec_min(vec a, vec b) // likewise
{
    return _mm256_min_ps(a, b);
}

// a * 2^n, rounded once; n holds whole numbers from -252 to 252. In two factors, which reach
// denormals.
static inline vec vec_times_power2(vec a, vec n)
{
    const __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
    const __m256i rest = _mm256_sub_epi32(whole, half), one = _mm256_set1_epi32(127);
    const __m256i first = _mm256_slli_epi32(_mm256_add_epi32(half, one), 23);
    const __m256i second = _mm256_slli_epi32(_mm256_add_epi32(rest, one), 23);
    return _mm256_mul_ps(_mm256_mul_ps(a, _mm256_castsi256_ps(first)), _mm256_castsi256_ps(second));
}

// 2^t = 2^n 2^fraction: gives an n for vec_times_power2, and a fraction from 0 to 1. A 2^n that f32
// does not hold may be that of n = -150 or 150; NaN stays in the fraction.
static inline vec vec_power2_parts(vec t, vec *fraction)
{
    t = _mm256_min_ps(_mm256_set1_ps(150.0f), _mm256_max_ps(_mm256_set1_ps(-150.0f), t));
    const vec n = _mm256_floor_ps(t);
    *fraction = _mm256_sub_ps(t, n);
    return n;
}

static inline vec vec_relu(vec a) // the second operand wins on NaN and on -0: both stay
{
    return _mm256_max_ps(_mm256_setzero_ps(), a);
}

static inline vec vec_where_positive(vec y, vec a) // a where y > 0, else 0
{
    return _mm256_and_ps(a, _mm256_cmp_ps(y, _mm256_setzero_ps(), _CMP_GT_OQ));
}

static inline vec vec_abs(vec a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

static inline vec vec_copy_sign(vec a, vec sign) // a is not negative
{
    return _mm256_or_ps(a, _mm256_and_ps(_mm256_set1_ps(-0.0f), sign));
}

// Lanes change places with those 1, 2, 4 (and with sixteen lanes, 8) further: bit by bit of their
// number.
static inline vec vec_swap1(vec a)
{
    return _mm256_permute_ps(a, 0xb1);
}

static inline vec vec_swap2(vec a)
{
    return _mm256_permute_ps(a, 0x4e);
}

static inline vec vec_swap4(vec a)
{
    return _mm256_permute2f128_ps(a, a, 1);
}

static inline vec vec_load_f32(const void *src)
{
    return _mm256_loadu_ps(src);
}

static inline vec vec_load_bf16(const void *src)
{
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(src));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

static inline vec vec_load_bf16x2(const void *src)
{
    __m256i pair = _mm256_loadu_si256(src);
    __m256i low = _mm256_and_si256(pair, _mm256_set1_epi32((int)0xffff0000));
    return _mm256_add_ps(_mm256_castsi256_ps(_mm256_slli_epi32(pair, 16)),
                         _mm256_castsi256_ps(low));
}

// Of LANES pairs of bf16, the first or the second of each.
static inline vec vec_load_first_bf16(const void *src)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_loadu_si256(src), 16));
}

static inline vec vec_load_second_bf16(const void *src)
{
    const __m256i high = _mm256_set1_epi32((int)0xffff0000);
    return _mm256_castsi256_ps(_mm256_and_si256(_mm256_loadu_si256(src), high));
}

static inline vec vec_load_f16(const void *src)
{
    return _mm256_cvtph_ps(_mm_loadu_si128(src));
}

static inline vec vec_load_u8(const void *src)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(src)));
}

static inline vec vec_load_s8(const void *src)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(src)));
}

static inline void vec_store_f32(void *dst, vec value)
{
    _mm256_storeu_ps(dst, value);
}

// Puts the low 16 bits of eight numbers (0..65535) together, in order.
static inline __m128i vec_narrow_u16(__m256i wide)
{
    __m256i pairs = _mm256_packus_epi32(wide, wide);
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(pairs, 0x08));
}

static inline __m256i vec_to_bf16(vec value)
{
    __m256i bits = _mm256_castps_si256(value);
    __m256i top = _mm256_srli_epi32(bits, 16);
    __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
    __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, bias), 16);
    __m256i quiet = _mm256_or_si256(top, _mm256_set1_epi32(0x40));
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(rounded, quiet, nan);
}

static inline void vec_store_bf16(void *dst, vec value)
{
    _mm_storeu_si128(dst, vec_narrow_u16(vec_to_bf16(value)));
}

static inline void vec_store_f16(void *dst, vec value)
{
    _mm_storeu_si128(dst, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
}

static inline void vec_store_bf16x2(void *dst, vec value)
{
    __m256i high = vec_to_bf16(value);
    vec rest = _mm256_sub_ps(value, _mm256_castsi256_ps(_mm256_slli_epi32(high, 16)));
    vec zero = _mm256_sub_ps(rest, rest); // not zero beside infinities and NaN
    __m256i finite = _mm256_castps_si256(_mm256_cmp_ps(zero, _mm256_setzero_ps(), _CMP_EQ_OQ));
    __m256i low = _mm256_and_si256(finite, _mm256_slli_epi32(vec_to_bf16(rest), 16));
    _mm256_storeu_si256(dst, _mm256_or_si256(high, low));
}

static inline __m256i vec_quantise(vec value, float low, float high)
{
    vec number = _mm256_and_ps(value, _mm256_cmp_ps(value, value, _CMP_ORD_Q));
    vec above = _mm256_max_ps(number, _mm256_set1_ps(low));
    return _mm256_cvtps_epi32(_mm256_min_ps(above, _mm256_set1_ps(high)));
}

static inline void vec_store_u8(void *dst, vec value)
{
    __m128i words = vec_narrow_u16(vec_quantise(value, 0.0f, 255.0f));
    _mm_storel_epi64(dst, _mm_packus_epi16(words, words));
}

static inline void vec_store_s8(void *dst, vec value)
{
    __m256i wide = vec_quantise(value, -128.0f, 127.0f);
    __m128i words = vec_narrow_u16(_mm256_and_si256(wide, _mm256_set1_epi32(0xffff)));
    _mm_storel_epi64(dst, _mm_packs_epi16(words, words));
}

// The first `count` floats (any count: none below 1, all from LANES up); other lanes are zero, and
// their memory is not touched. Through a buffer, not VMASKMOV: its stores are microcode on AMD's
// CPUs (tens of operations), and emulators read the lanes it masks.
static inline vec vec_load_part(const float *src, int64_t count)
{
    if (count >= LANES) return _mm256_loadu_ps(src);
    float lanes[LANES] = {0};
    if (count > 0) memcpy(lanes, src, (size_t)count * sizeof *src);
    return _mm256_loadu_ps(lanes);
}

static inline void vec_store_part(float *dst, int64_t count, vec value)
{
    if (count >= LANES) {
        _mm256_storeu_ps(dst, value);
        return;
    }
    float lanes[LANES];
    _mm256_storeu_ps(lanes, value);
    if (count > 0) memcpy(dst, lanes, (size_t)count * sizeof *dst);
}

// 2 * LANES bf16 of a where y > 0, else 0. As integers those are 1 to infinity's.
static inline void vec_where_positive_bf16(const void *y, const void *a, void *dst)
{
    const __m256i bits = _mm256_loadu_si256(y), above = _mm256_set1_epi16(0x7f81);
    const __m256i positive = _mm256_and_si256(_mm256_cmpgt_epi16(bits, _mm256_setzero_si256()),
                                              _mm256_cmpgt_epi16(above, bits));
    _mm256_storeu_si256(dst, _mm256_and_si256(positive, _mm256_loadu_si256(a)));
}

static inline vec_f64 vec_f64_zero(void)
{
    return _mm256_setzero_pd();
}

static inline vec_f64 vec_f64_set1(double value)
{
    return _mm256_set1_pd(value);
}

static inline vec_f64 vec_low_f64(vec value)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(value));
}

static inline vec_f64 vec_high_f64(vec value)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(value, 1));
}

static inline vec_f64 vec_f64_add(vec_f64 a, vec_f64 b)
{
    return _mm256_add_pd(a, b);
}

static inline vec_f64 vec_f64_fmadd(vec_f64 a, vec_f64 b, vec_f64 c)
{
    return _mm256_fmadd_pd(a, b, c);
}

static inline void vec_f64_store(double *dst, vec_f64 value)
{
    _mm256_storeu_pd(dst, value);
}

#endif
