// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights of linear that lie in panels, brought into the order of VNNI and of tiles.
#include "src/kernel/linear/linear.h"

#include <immintrin.h>
#include <string.h>

// 32 outputs by 4 of k are that order already.

// A step m for each byte of 16 outputs by 4 of k: as halves of words, and 8 m.
typedef struct factors {
    __m512i step, eight;
} factors;

static inline factors factors_of(const uint8_t *steps)
{
    const __m512i words = _mm512_cvtepu8_epi32(
        _mm_loadu_si128((const __m128i *)(const void *)steps));
    const __m512i step = _mm512_or_si512(words, _mm512_slli_epi32(words, 16));
    const __m512i bytes = _mm512_or_si512(step, _mm512_slli_epi32(step, 8));
    return (factors){step, _mm512_slli_epi16(bytes, 3)}; // 8 m is below 128: no bit leaves its byte
}

// (u - 8) m: u m fits a byte, so two bytes are one product of 16 bits.
static inline void store_numbers(__m512i u, factors f, int8_t *dst)
{
    _mm512_storeu_si512(dst, _mm512_sub_epi8(_mm512_mullo_epi16(u, f.step), f.eight));
}

static inline void unpack_eight(const uint8_t *src, factors f, int8_t *dst)
{
    const __m512i pairs = _mm512_loadu_si512(src), low = _mm512_set1_epi8(15);
    store_numbers(_mm512_and_si512(pairs, low), f, dst);
    store_numbers(_mm512_and_si512(_mm512_srli_epi16(pairs, 4), low), f, dst + 128);
}

// --- others' 4 bits (panels.h) ---

// Of 16 outputs: a factor and an offset for each half of a word.
typedef struct four_factors {
    __m512i factor, offset;
} four_factors;

static inline __m512i twice(const int16_t *numbers)
{
    const __m512i words = _mm512_cvtepu16_epi32(
        _mm256_loadu_si256((const __m256i *)(const void *)numbers));
    return _mm512_or_si512(words, _mm512_slli_epi32(words, 16));
}

// Sixteen outputs by 4 of k: bytes q in the upper halves of words, first those of odd k, then of
// even k.
static inline void store_fours(__m512i u, __m512i levels, four_factors f, int8_t *dst)
{
    const __m512i v = _mm512_shuffle_epi8(levels, u);
    const __m512i odd = _mm512_and_si512(v, _mm512_set1_epi16((short)0xff00));
    const __m512i even = _mm512_slli_epi16(v, 8);
    const __m512i odd_q = _mm512_adds_epi16(_mm512_mulhrs_epi16(odd, f.factor), f.offset);
    const __m512i even_q = _mm512_adds_epi16(_mm512_mulhrs_epi16(even, f.factor), f.offset);
    _mm512_storeu_si512(
        dst, _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaa, _mm512_srli_epi16(even_q, 8), odd_q));
}

static inline void unpack_eight_fours(const uint8_t *src, __m512i levels, four_factors f,
                                      int8_t *dst)
{
    const __m512i pairs = _mm512_loadu_si512(src), low = _mm512_set1_epi8(15);
    store_fours(_mm512_and_si512(pairs, low), levels, f, dst);
    store_fours(_mm512_and_si512(_mm512_srli_epi16(pairs, 4), low), levels, f, dst + 128);
}

static void unpack_fours(const zn_linear_unpack *u, const uint8_t *src, int64_t panel)
{
    const zn_panels *p = u->panels;
    const __m512i levels = _mm512_broadcast_i32x4(
        _mm_loadu_si128((const __m128i *)(const void *)p->levels));
    int64_t at = (panel * (u->padded_inputs / p->group) + u->k / p->group) * ZN_PANEL_OUTPUTS;
    four_factors f[2] = {{.offset = _mm512_set1_epi16(ZN_FOUR_HALF)},
                         {.offset = _mm512_set1_epi16(ZN_FOUR_HALF)}};
    int8_t *dst = u->dst;
    for (int64_t k = 0; k < u->count; k += p->group, at += ZN_PANEL_OUTPUTS) {
        const int64_t left = u->count - k, here = left < p->group ? left : p->group;
        for (int i = 0; i < 2; i++) f[i].factor = twice(p->factors + at + 16 * i);
        for (int i = 0; i < 2 && p->offsets; i++) f[i].offset = twice(p->offsets + at + 16 * i);
        for (int64_t i = 0; i < here; i += 8, src += 128, dst += 256) {
            unpack_eight_fours(src, levels, f[0], dst);
            unpack_eight_fours(src + 64, levels, f[1], dst + 64);
        }
    }
}

void zn_linear_unpack_avx512(const zn_linear_unpack *u)
{
    const int64_t panel = u->output / ZN_PANEL_OUTPUTS;
    const uint8_t *src = u->panels->numbers;
    const int64_t at = (panel * u->padded_inputs + u->k) * ZN_PANEL_OUTPUTS;
    if (u->panels->bits == 8) {
        memcpy(u->dst, src + at, (size_t)u->count * ZN_PANEL_OUTPUTS);
        return;
    }
    if (u->panels->factors) {
        unpack_fours(u, src + at / 2, panel);
        return;
    }
    const int64_t groups = u->padded_inputs / ZN_PANEL_GROUP;
    const uint8_t *steps = u->panels->steps +
                           (panel * groups + u->k / ZN_PANEL_GROUP) * ZN_PANEL_OUTPUTS;
    int8_t *dst = u->dst;
    src += at / 2;
    for (int64_t k = 0; k < u->count; k += ZN_PANEL_GROUP, steps += ZN_PANEL_OUTPUTS) {
        const int64_t left = u->count - k, here = left < ZN_PANEL_GROUP ? left : ZN_PANEL_GROUP;
        const factors first = factors_of(steps), second = factors_of(steps + 16);
        for (int64_t i = 0; i < here; i += 8, src += 128, dst += 256) {
            unpack_eight(src, first, dst);
            unpack_eight(src + 64, second, dst + 64);
        }
    }
}
