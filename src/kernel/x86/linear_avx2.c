// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// linear of 8-bit tokens and weights in AVX2.
#include "src/kernel/linear/linear.h"
#include "src/kernel/unroll.h"
#include "src/kernel/x86/vector_avx2.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

// --- 8 bits --------------------------------------------------------------------------------------
// Exact in 16 bits, two k at a time: sums of products of bytes saturate without VNNI.

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

static void s8_tile(const zn_linear_tile *tile)
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

// --- panels: of 32 outputs by 4 of k, 16 outputs by 2 of k, twice ---

static inline __m256i load_bytes(const uint8_t *src)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)src);
}

// Eight outputs each by 4 of k: first the pairs of the lower k, then those of the higher.
static inline void store_pairs(__m256i a, __m256i b, int8_t *dst)
{
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0,
                                           1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    a = _mm256_shuffle_epi8(a, order);
    b = _mm256_shuffle_epi8(b, order);
    const __m256i lower = _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xd8);
    const __m256i higher = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xd8);
    _mm256_storeu_si256((__m256i *)(void *)dst, lower);
    _mm256_storeu_si256((__m256i *)(void *)(dst + 32), higher);
}

// A step m for each byte of 8 outputs by 4 of k: as halves of words, and 8 m.
typedef struct factors {
    __m256i step, eight;
} factors;

static inline factors factors_of(const uint8_t *steps)
{
    const __m256i words = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64((const __m128i *)(const void *)steps));
    const __m256i step = _mm256_or_si256(words, _mm256_slli_epi32(words, 16));
    const __m256i bytes = _mm256_or_si256(step, _mm256_slli_epi32(step, 8));
    return (factors){step, _mm256_slli_epi16(bytes, 3)}; // 8 m is below 128: no bit leaves its byte
}

// (u - 8) m: u m fits a byte, so two bytes are one product of 16 bits.
static inline __m256i numbers_of(__m256i u, factors f)
{
    return _mm256_sub_epi8(_mm256_mullo_epi16(_mm256_and_si256(u, _mm256_set1_epi8(15)), f.step),
                           f.eight);
}

static void unpack_four_bits(const zn_linear_unpack *u, const uint8_t *src, const uint8_t *steps)
{
    int8_t *dst = u->dst;
    for (int64_t k = 0; k < u->count; k += ZN_PANEL_GROUP, steps += ZN_PANEL_OUTPUTS) {
        const int64_t left = u->count - k, here = left < ZN_PANEL_GROUP ? left : ZN_PANEL_GROUP;
        const factors first = factors_of(steps), second = factors_of(steps + 8);
        for (int64_t i = 0; i < here; i += 8, src += 128, dst += 128) {
            const __m256i a = load_bytes(src), b = load_bytes(src + 32);
            store_pairs(numbers_of(a, first), numbers_of(b, second), dst);
            store_pairs(numbers_of(_mm256_srli_epi16(a, 4), first),
                        numbers_of(_mm256_srli_epi16(b, 4), second), dst + 64);
        }
    }
}

// Others' 4 bits (panels.h). Of 8 outputs: a factor and an offset for each half of a word.
typedef struct four_factors {
    __m256i factor, offset;
} four_factors;

static inline __m256i twice(const int16_t *numbers)
{
    const __m256i words = _mm256_cvtepu16_epi32(
        _mm_loadu_si128((const __m128i *)(const void *)numbers));
    return _mm256_or_si256(words, _mm256_slli_epi32(words, 16));
}

// Bytes q of 8 outputs by 4 of k: they are in the upper halves of words, of odd k and of even k.
static inline __m256i fours_of(__m256i u, __m256i levels, four_factors f)
{
    const __m256i v = _mm256_shuffle_epi8(levels, _mm256_and_si256(u, _mm256_set1_epi8(15)));
    const __m256i upper = _mm256_set1_epi16((short)0xff00);
    const __m256i odd = _mm256_and_si256(v, upper), even = _mm256_slli_epi16(v, 8);
    const __m256i odd_q = _mm256_adds_epi16(_mm256_mulhrs_epi16(odd, f.factor), f.offset);
    const __m256i even_q = _mm256_adds_epi16(_mm256_mulhrs_epi16(even, f.factor), f.offset);
    return _mm256_blendv_epi8(_mm256_srli_epi16(even_q, 8), odd_q, upper);
}

static void unpack_fours(const zn_linear_unpack *u, const uint8_t *src, int64_t at)
{
    const zn_panels *p = u->panels;
    const __m256i levels = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)p->levels));
    four_factors f[2] = {{.offset = _mm256_set1_epi16(ZN_FOUR_HALF)},
                         {.offset = _mm256_set1_epi16(ZN_FOUR_HALF)}};
    int8_t *dst = u->dst;
    for (int64_t k = 0; k < u->count; k += p->group, at += ZN_PANEL_OUTPUTS) {
        const int64_t left = u->count - k, here = left < p->group ? left : p->group;
        for (int i = 0; i < 2; i++) f[i].factor = twice(p->factors + at + 8 * i);
        for (int i = 0; i < 2 && p->offsets; i++) f[i].offset = twice(p->offsets + at + 8 * i);
        for (int64_t i = 0; i < here; i += 8, src += 128, dst += 128) {
            const __m256i a = load_bytes(src), b = load_bytes(src + 32);
            store_pairs(fours_of(a, levels, f[0]), fours_of(b, levels, f[1]), dst);
            store_pairs(fours_of(_mm256_srli_epi16(a, 4), levels, f[0]),
                        fours_of(_mm256_srli_epi16(b, 4), levels, f[1]), dst + 64);
        }
    }
}

static void unpack(const zn_linear_unpack *u)
{
    const int64_t panel = u->output / ZN_PANEL_OUTPUTS, o = u->output % ZN_PANEL_OUTPUTS;
    const uint8_t *src = (const uint8_t *)u->panels->numbers + o * ZN_PANEL_QUAD;
    const int64_t at = (panel * u->padded_inputs + u->k) * ZN_PANEL_OUTPUTS;
    if (u->panels->factors) {
        const int64_t group = u->panels->group, before = panel * (u->padded_inputs / group);
        unpack_fours(u, src + at / 2, (before + u->k / group) * ZN_PANEL_OUTPUTS + o);
        return;
    }
    if (u->panels->bits == 4) {
        const int64_t group = panel * (u->padded_inputs / ZN_PANEL_GROUP) + u->k / ZN_PANEL_GROUP;
        unpack_four_bits(u, src + at / 2, u->panels->steps + group * ZN_PANEL_OUTPUTS + o);
        return;
    }
    src += at;
    for (int64_t k = 0; k < u->count; k += ZN_PANEL_QUAD, src += 128)
        store_pairs(load_bytes(src), load_bytes(src + 32), u->dst + k * S8_PANEL);
}

const zn_linear_version zn_linear_s8_avx2 = {
    .name = "avx2",
    .weights = ZN_S8,
    .placed = ZN_S16,
    .tokens = S8_TOKENS,
    .panel = S8_PANEL,
    .group = 2,
    .step = 2 * S8_TURN,
    .run = 768,
    .tile = s8_tile,
    .end = zn_linear_end_avx2,
    .round = zn_linear_round_avx2,
    .unpack = unpack,
};
