// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/resample.c in AVX2.
#include "src/kernel/resample.h"

#include <immintrin.h>

typedef struct resample_sums {
    __m256i first, second; // of two pixels each
} resample_sums;

static inline resample_sums resample_zero(void)
{
    return (resample_sums){_mm256_setzero_si256(), _mm256_setzero_si256()};
}

static inline __m256i resample_products(const uint8_t *from, const int32_t *weights)
{
    const __m256i samples = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64((const __m128i *)(const void *)from));
    return _mm256_mullo_epi32(samples, _mm256_loadu_si256((const __m256i *)(const void *)weights));
}

static inline void resample_add(const uint8_t *from, const int32_t *weights, resample_sums *sums)
{
    sums->first = _mm256_add_epi32(sums->first, resample_products(from, weights));
    sums->second = _mm256_add_epi32(sums->second, resample_products(from + 8, weights + 8));
}

static inline __m128i resample_fold(const resample_sums *sums)
{
    const __m256i both = _mm256_add_epi32(sums->first, sums->second);
    return _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
}

#include "src/kernel/resample_body.h"

void zn_resample_across_avx2(const zn_resample_taps *taps, const uint8_t *src, uint8_t *dst,
                             size_t pixels)
{
    resample_across(taps, src, dst, pixels);
}

void zn_resample_down_avx2(const int32_t *weights, size_t count, const uint8_t *src, size_t stride,
                           uint8_t *dst, size_t samples)
{
    resample_down(weights, count, src, stride, dst, samples);
}
