// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Sixteen f32 lanes in AVX-512, under the same names and with the same results as vector_avx2.h,
// which says what each function does.
#ifndef ZN_KERNEL_X86_VECTOR_AVX512_H
#define ZN_KERNEL_X86_VECTOR_AVX512_H

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) ||                   \
    !defined(__AVX512VL__)
#error "this file needs -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define VERSION(name) name##_avx512
#define VERSION_NAME  "avx512"
#define LANES         16
#define CONV_PIXELS   12 // x 2 vectors: 24 accumulators, which the weights' L2 bandwidth carries

typedef __m512 vec;
typedef __m512d vec_f64;

static inline vec vec_set1(float value)
{
    return _mm512_set1_ps(value);
}

static inline vec vec_zero(void)
{
    return _mm512_setzero_ps();
}

static inline vec vec_add(vec a, vec b)
{
    return _mm512_add_ps(a, b);
}

static inline vec vec_sub(vec a, vec b)
{
    return _mm512_sub_ps(a, b);
}

static inline vec vec_div(vec a, vec b)
{
    return _mm512_div_ps(a, b);
}

static inline vec vec_mul(vec a, vec b)
{
    return _mm512_mul_ps(a, b);
}

static inline vec vec_fmadd(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}

static inline vec vec_add_product(vec sum, vec a, vec b)
{
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

static inline vec vec_max(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}

static inline vec vec_min(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}

static inline vec vec_times_power2(vec a, vec n)
{
    return _mm512_scalef_ps(a, n);
}

static inline vec vec_power2_parts(vec t, vec *fraction)
{
    *fraction = _mm512_reduce_ps(t, _MM_FROUND_TO_NEG_INF); // 0 of infinities
    return t;                                               // vec_times_power2 takes its floor
}

static inline vec vec_relu(vec a)
{
    return _mm512_max_ps(_mm512_setzero_ps(), a);
}

static inline vec vec_where_positive(vec y, vec a)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(y, _mm512_setzero_ps(), _CMP_GT_OQ), a);
}

static inline vec vec_abs(vec a)
{
    return _mm512_abs_ps(a);
}

static inline vec vec_copy_sign(vec a, vec sign)
{
    return _mm512_or_ps(a, _mm512_and_ps(_mm512_set1_ps(-0.0f), sign));
}

static inline vec vec_swap1(vec a)
{
    return _mm512_permute_ps(a, 0xb1);
}

static inline vec vec_swap2(vec a)
{
    return _mm512_permute_ps(a, 0x4e);
}

static inline vec vec_swap4(vec a)
{
    return _mm512_shuffle_f32x4(a, a, 0xb1);
}

static inline vec vec_swap8(vec a)
{
    return _mm512_shuffle_f32x4(a, a, 0x4e);
}

static inline vec vec_load_f32(const void *src)
{
    return _mm512_loadu_ps(src);
}

static inline vec vec_load_bf16(const void *src)
{
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(src));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

static inline vec vec_load_bf16x2(const void *src)
{
    __m512i pair = _mm512_loadu_si512(src);
    __m512i low = _mm512_and_si512(pair, _mm512_set1_epi32((int)0xffff0000));
    return _mm512_add_ps(_mm512_castsi512_ps(_mm512_slli_epi32(pair, 16)),
                         _mm512_castsi512_ps(low));
}

static inline vec vec_load_first_bf16(const void *src)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(src), 16));
}

static inline vec vec_load_second_bf16(const void *src)
{
    const __m512i high = _mm512_set1_epi32((int)0xffff0000);
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(src), high));
}

static inline vec vec_load_f16(const void *src)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(src));
}

static inline vec vec_load_u8(const void *src)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(src)));
}

static inline vec vec_load_s8(const void *src)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(src)));
}

static inline void vec_store_f32(void *dst, vec value)
{
    _mm512_storeu_ps(dst, value);
}

// Not VCVTNEPS2BF16: it takes denormals for zero, and bits must not depend on the CPU.
static inline __m512i vec_to_bf16(vec value)
{
    __m512i bits = _mm512_castps_si512(value);
    __m512i top = _mm512_srli_epi32(bits, 16);
    __m512i odd = _mm512_and_si512(top, _mm512_set1_epi32(1));
    __m512i bias = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
    __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, bias), 16);
    __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(rounded, nan, top, _mm512_set1_epi32(0x40));
}

static inline void vec_store_bf16(void *dst, vec value)
{
    _mm256_storeu_si256(dst, _mm512_cvtepi32_epi16(vec_to_bf16(value)));
}

static inline void vec_store_f16(void *dst, vec value)
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    _mm256_storeu_si256(dst, _mm512_cvtps_ph(value, NEAREST));
}

static inline void vec_store_bf16x2(void *dst, vec value)
{
    __m512i high = vec_to_bf16(value);
    vec rest = _mm512_sub_ps(value, _mm512_castsi512_ps(_mm512_slli_epi32(high, 16)));
    vec zero = _mm512_sub_ps(rest, rest); // not zero beside infinities and NaN
    __mmask16 finite = _mm512_cmp_ps_mask(zero, _mm512_setzero_ps(), _CMP_EQ_OQ);
    __m512i low = _mm512_maskz_slli_epi32(finite, vec_to_bf16(rest), 16);
    _mm512_storeu_si512(dst, _mm512_or_si512(high, low));
}

static inline __m512i vec_quantise(vec value, float low, float high)
{
    __mmask16 number = _mm512_cmp_ps_mask(value, value, _CMP_ORD_Q);
    vec above = _mm512_maskz_max_ps(number, value, _mm512_set1_ps(low));
    return _mm512_cvtps_epi32(_mm512_min_ps(above, _mm512_set1_ps(high)));
}

static inline void vec_store_u8(void *dst, vec value)
{
    _mm_storeu_si128(dst, _mm512_cvtepi32_epi8(vec_quantise(value, 0.0f, 255.0f)));
}

static inline void vec_store_s8(void *dst, vec value)
{
    _mm_storeu_si128(dst, _mm512_cvtepi32_epi8(vec_quantise(value, -128.0f, 127.0f)));
}

static inline __mmask16 vec_mask(int64_t count)
{
    return (__mmask16)(count < 1 ? 0 : count < LANES ? (1 << count) - 1 : 0xffff);
}

static inline vec vec_load_part(const float *src, int64_t count)
{
    return _mm512_maskz_loadu_ps(vec_mask(count), src);
}

static inline void vec_store_part(float *dst, int64_t count, vec value)
{
    _mm512_mask_storeu_ps(dst, vec_mask(count), value);
}

static inline void vec_where_positive_bf16(const void *y, const void *a, void *dst)
{
    const __m512i from_1 = _mm512_sub_epi16(_mm512_loadu_si512(y), _mm512_set1_epi16(1));
    const __mmask32 positive = _mm512_cmplt_epu16_mask(from_1, _mm512_set1_epi16(0x7f80));
    _mm512_storeu_si512(dst, _mm512_maskz_mov_epi16(positive, _mm512_loadu_si512(a)));
}

static inline vec_f64 vec_f64_zero(void)
{
    return _mm512_setzero_pd();
}

static inline vec_f64 vec_f64_set1(double value)
{
    return _mm512_set1_pd(value);
}

static inline vec_f64 vec_low_f64(vec value)
{
    return _mm512_cvtps_pd(_mm512_castps512_ps256(value));
}

static inline vec_f64 vec_high_f64(vec value)
{
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(value, 1));
}

static inline vec_f64 vec_f64_add(vec_f64 a, vec_f64 b)
{
    return _mm512_add_pd(a, b);
}

static inline vec_f64 vec_f64_fmadd(vec_f64 a, vec_f64 b, vec_f64 c)
{
    return _mm512_fmadd_pd(a, b, c);
}

static inline void vec_f64_store(double *dst, vec_f64 value)
{
    _mm512_storeu_pd(dst, value);
}

#endif
