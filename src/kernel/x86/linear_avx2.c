// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/linear.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

static inline vec pair_low(const void *src)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_loadu_si256(src), 16));
}

static inline vec pair_high(const void *src)
{
    const __m256i upper = _mm256_set1_epi32((int)0xffff0000u);
    return _mm256_castsi256_ps(_mm256_and_si256(_mm256_loadu_si256(src), upper));
}

#include "src/kernel/linear_body.h"

void zn_linear_f32_avx2(const zn_linear_tile *tile)
{
    linear_f32(tile);
}

void zn_linear_bf16_avx2(const zn_linear_tile *tile)
{
    linear_bf16(tile);
}

void zn_linear_end_avx2(const zn_linear_end *end)
{
    linear_end(end);
}

float zn_linear_round_avx2(const float *src, int64_t n, int offset, int8_t *dst)
{
    return linear_round(src, n, offset, dst);
}

// --- 8 bits: exact in 16, two k at a time, because sums of products of bytes saturate without VNNI ---

enum { S8_TOKENS = 6, S8_PANEL = 16, S8_TURN = 4 }; // a turn: pairs of k

ALWAYS_INLINE void s8_panel(const zn_linear_tile *t, const int8_t *weights, int32_t *sums,
                            const char *ahead, size_t lines, const int tokens)
{
    __m256i acc[S8_TOKENS][2];
    UNROLL
    for (int i = 0; i < tokens; i++) {
        for (int n = 0; n < 2; n++) {
            const int32_t *from = sums + i * S8_PANEL + n * LANES;
            acc[i][n] = t->first ? _mm256_setzero_si256()
                                 : _mm256_loadu_si256((const __m256i *)(const void *)from);
        }
    }
    const char *placed = t->placed;
    for (int64_t k = 0; k < t->k; k += 2 * S8_TURN) {
        for (size_t i = 0; i < lines; i++) __builtin_prefetch(ahead + i * 64, 0, 2);
        ahead += lines * 64;
        UNROLL
        for (int n = 0; n < S8_TURN; n++, placed += 4, weights += 2 * S8_PANEL) {
            const __m256i w0 = _mm256_cvtepi8_epi16(
                _mm_loadu_si128((const __m128i *)(const void *)weights));
            const __m256i w1 = _mm256_cvtepi8_epi16(
                _mm_loadu_si128((const __m128i *)(const void *)(weights + S8_PANEL)));
            UNROLL
            for (int i = 0; i < tokens; i++) {
                int32_t two;
                memcpy(&two, placed + i * t->stride, sizeof two);
                const __m256i x = _mm256_set1_epi32(two);
                acc[i][0] = _mm256_add_epi32(acc[i][0], _mm256_madd_epi16(x, w0));
                acc[i][1] = _mm256_add_epi32(acc[i][1], _mm256_madd_epi16(x, w1));
            }
        }
    }
    UNROLL
    for (int i = 0; i < tokens; i++) {
        for (int n = 0; n < 2; n++) {
            int32_t *to = sums + i * S8_PANEL + n * LANES;
            _mm256_storeu_si256((__m256i *)(void *)to, acc[i][n]);
        }
    }
}

ALWAYS_INLINE void s8_panels(const zn_linear_tile *t, const int tokens)
{
    const int64_t turns = t->panels * t->k / (2 * S8_TURN);
    const size_t lines = (t->ahead_bytes / 64 + (size_t)turns - 1) / (size_t)turns;
    for (int p = 0; p < t->panels; p++)
        s8_panel(t, (const int8_t *)t->weights + p * t->k * S8_PANEL,
                 (int32_t *)t->sums + p * S8_TOKENS * S8_PANEL,
                 t->ahead + (size_t)p * (t->ahead_bytes / (size_t)t->panels), lines, tokens);
}

void zn_linear_s8_avx2(const zn_linear_tile *tile)
{
    if (tile->tokens == 1)
        s8_panels(tile, 1);
    else if (tile->tokens == 2)
        s8_panels(tile, 2);
    else if (tile->tokens <= 4)
        s8_panels(tile, 4);
    else
        s8_panels(tile, S8_TOKENS);
}
