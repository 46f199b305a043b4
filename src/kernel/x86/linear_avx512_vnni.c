// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// linear of 8-bit tokens and weights by VNNI on vectors.
//
// Twelve tokens times 32 outputs are 24 sums in registers, which four bytes of each token, in all
// lanes, and two vectors of weights feed: 14 loads for 24 products of 64 pairs. The instruction
// takes tokens without a sign: they are placed moved up by 128, and zn_linear_end takes away what
// that adds.
#if !defined(__AVX512VNNI__) || !defined(__AVX512BW__) || !defined(__AVX512VL__)
#error "this file needs AVX-512 and -mavx512vnni"
#endif

#include "src/kernel/linear/linear.h"
#include "src/kernel/unroll.h"

#include <immintrin.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { TOKENS = 12, LANES = 16, PANEL = 2 * LANES, GROUP = 4, TURN = 4 }; // a turn: groups

// _mm512_dpbusd_epi32, written out, because gcc 12 copies the sums before and after the intrinsic.
ALWAYS_INLINE __m512i add_products(__m512i sums, __m512i tokens, __m512i weights)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(tokens), "v"(weights));
    return sums;
}

ALWAYS_INLINE void panel(const zn_linear_tile *t, const char *weights, int32_t *sums,
                         const char *ahead, size_t lines, const int tokens)
{
    const int64_t step = t->stride;
    const char *left0 = t->placed, *left4 = left0 + 4 * step, *left8 = left0 + 8 * step;
    __m512i acc[TOKENS][2];
    UNROLL
    for (int i = 0; i < tokens; i++) {
        for (int n = 0; n < 2; n++)
            acc[i][n] = t->first ? _mm512_setzero_si512()
                                 : _mm512_loadu_si512(sums + i * PANEL + n * LANES);
    }
    for (int64_t k = 0; k < t->k; k += GROUP * TURN) {
        for (size_t i = 0; i < lines; i++) __builtin_prefetch(ahead + i * 64, 0, 2);
        ahead += lines * 64;
        UNROLL
        for (int n = 0; n < TURN; n++, weights += GROUP * PANEL) {
            const __m512i w0 = _mm512_loadu_si512(weights);
            const __m512i w1 = _mm512_loadu_si512(weights + GROUP * LANES);
            UNROLL
            for (int i = 0; i < tokens; i++) {
                const char *left = i < 4 ? left0 : i < 8 ? left4 : left8;
                int32_t four;
                memcpy(&four, left + i % 4 * step + n * GROUP, sizeof four);
                const __m512i x = _mm512_set1_epi32(four);
                acc[i][0] = add_products(acc[i][0], x, w0);
                acc[i][1] = add_products(acc[i][1], x, w1);
            }
        }
        left0 += GROUP * TURN, left4 += GROUP * TURN, left8 += GROUP * TURN;
    }
    UNROLL
    for (int i = 0; i < tokens; i++) {
        for (int n = 0; n < 2; n++) _mm512_storeu_si512(sums + i * PANEL + n * LANES, acc[i][n]);
    }
}

ALWAYS_INLINE void panels(const zn_linear_tile *t, const int tokens)
{
    const int64_t turns = t->panels * t->k / (GROUP * TURN);
    const size_t lines = (t->ahead_bytes / 64 + (size_t)turns - 1) / (size_t)turns;
    for (int p = 0; p < t->panels; p++)
        panel(t, (const char *)t->weights + p * t->k * PANEL,
              (int32_t *)t->sums + p * TOKENS * PANEL,
              t->ahead + (size_t)p * (t->ahead_bytes / (size_t)t->panels), lines, tokens);
}

static void s8_tile(const zn_linear_tile *tile)
{
    if (tile->tokens == 1)
        panels(tile, 1);
    else if (tile->tokens == 2)
        panels(tile, 2);
    else if (tile->tokens <= 4)
        panels(tile, 4);
    else if (tile->tokens <= 6)
        panels(tile, 6);
    else if (tile->tokens <= 8)
        panels(tile, 8);
    else if (tile->tokens <= 10)
        panels(tile, 10);
    else
        panels(tile, TOKENS);
}

const zn_linear_version zn_linear_s8_avx512_vnni = {
    .name = "avx512",
    .weights = ZN_S8,
    .placed = ZN_U8,
    .tokens = TOKENS,
    .panel = PANEL,
    .group = GROUP,
    .step = GROUP * TURN,
    .run = 1536,
    .tile = s8_tile,
    .end = zn_linear_end_avx512,
    .round = zn_linear_round_avx512,
    .unpack = zn_linear_unpack_avx512,
};
