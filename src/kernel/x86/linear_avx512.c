// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/linear.c in AVX-512.
#include "src/kernel/x86/vector_avx512.h"

#include <string.h>

static inline vec pair_low(const void *src)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(src), 16));
}

static inline vec pair_high(const void *src)
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(src), upper));
}

#include "src/kernel/linear_body.h"

void zn_linear_f32_avx512(const zn_linear_tile *tile)
{
    linear_f32(tile);
}

void zn_linear_bf16_avx512(const zn_linear_tile *tile)
{
    linear_bf16(tile);
}

void zn_linear_end_avx512(const zn_linear_end *end)
{
    linear_end(end);
}

float zn_linear_round_avx512(const float *src, int64_t n, int offset, int8_t *dst)
{
    return linear_round(src, n, offset, dst);
}
