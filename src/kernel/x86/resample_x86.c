// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The versions of resample.h. Along a row with the sums of a step's bytes in one register or two;
// down by loops of fixed lengths, of which a compiler makes vectors. Compiled once for AVX2 and
// once for AVX-512 (vector.h).
#include "src/kernel/pointwise/resample.h"
#include "src/kernel/vector.h"

#include <string.h>

#ifdef __AVX512F__

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

#else

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

#endif

enum { RESAMPLE_BYTES = 4 * ZN_RESAMPLE_STEP, RESAMPLE_BLOCK = 64 };

static inline uint8_t resample_byte(int32_t sum)
{
    const int32_t value = sum >> ZN_RESAMPLE_POINT;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

// A pixel of the result from its sums, the first three of which count: packing ends at 0 and 255.
static inline void resample_end(__m128i sums, uint8_t *dst)
{
    const __m128i half = _mm_set1_epi32(1 << (ZN_RESAMPLE_POINT - 1));
    const __m128i value = _mm_srai_epi32(_mm_add_epi32(sums, half), ZN_RESAMPLE_POINT);
    const __m128i bytes = _mm_packus_epi16(_mm_packs_epi32(value, value), value);
    const int32_t pixel = _mm_cvtsi128_si32(bytes);
    memcpy(dst, &pixel, 3);
}

void VERSION(zn_resample_across)(const zn_resample_taps *taps, const uint8_t *src, uint8_t *dst,
                                 size_t pixels)
{
    for (size_t x = 0; x < pixels; x++, dst += 3) {
        const int32_t *weights = taps->weights + x * taps->pitch;
        const uint8_t *from = src + 4 * (size_t)taps->first[x];
        resample_sums sums = resample_zero();
        for (uint32_t k = 0; k < taps->count[x]; k += ZN_RESAMPLE_STEP) {
            resample_add(from, weights, &sums);
            from += RESAMPLE_BYTES;
            weights += RESAMPLE_BYTES;
        }
        resample_end(resample_fold(&sums), dst);
    }
}

void VERSION(zn_resample_down)(const int32_t *weights, size_t count, const uint8_t *src,
                               size_t stride, uint8_t *dst, size_t samples)
{
    size_t at = 0;
    for (; at + RESAMPLE_BLOCK <= samples; at += RESAMPLE_BLOCK) {
        int32_t sums[RESAMPLE_BLOCK];
        for (int i = 0; i < RESAMPLE_BLOCK; i++) sums[i] = 1 << (ZN_RESAMPLE_POINT - 1);
        for (size_t k = 0; k < count; k++) {
            const uint8_t *from = src + k * stride + at;
            for (int i = 0; i < RESAMPLE_BLOCK; i++) sums[i] += from[i] * weights[k];
        }
        for (int i = 0; i < RESAMPLE_BLOCK; i++) dst[at + (size_t)i] = resample_byte(sums[i]);
    }
    zn_resample_down_reference(weights, count, src + at, stride, dst + at, samples - at);
}
