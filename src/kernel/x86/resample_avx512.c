// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/resample.c in AVX-512.
#include "src/kernel/resample.h"

#include <immintrin.h>

typedef __m512i resample_sums;

static inline resample_sums resample_zero(void)
{
    return _mm512_setzero_si512();
}

static inline void resample_add(const uint8_t *from, const int32_t *weights, resample_sums *sums)
{
    const __m512i samples = _mm512_cvtepu8_epi32(
        _mm_loadu_si128((const __m128i *)(const void *)from));
    *sums = _mm512_add_epi32(*sums, _mm512_mullo_epi32(samples, _mm512_loadu_si512(weights)));
}

static inline __m128i resample_fold(const resample_sums *sums)
{
    const __m256i both = _mm256_add_epi32(_mm512_castsi512_si256(*sums),
                                          _mm512_extracti64x4_epi64(*sums, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
}

#include "src/kernel/resample_body.h"

void zn_resample_across_avx512(const zn_resample_taps *taps, const uint8_t *src, uint8_t *dst,
                               size_t pixels)
{
    resample_across(taps, src, dst, pixels);
}

void zn_resample_down_avx512(const int32_t *weights, size_t count, const uint8_t *src,
                             size_t stride, uint8_t *dst, size_t samples)
{
    resample_down(weights, count, src, stride, dst, samples);
}
