// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the versions of conv_dot find the pixels of a tile, and what they do after the sum.
#ifndef ZN_KERNEL_X86_CONV_DOT_TILES_H
#define ZN_KERNEL_X86_CONV_DOT_TILES_H

#include "src/kernel/conv/conv_dot.h"
#include "src/kernel/x86/vector_avx512.h"

#include <string.h>

// Some pixels of one row.
typedef struct tile {
    const uint8_t *src; // its first tap
    int64_t src_row;    // bytes from one kernel row to the next
    int64_t wrap;       // kernel rows from this one on lie src_ring bytes earlier
    int64_t out;        // index of its first pixel in dst
    int64_t count;
} tile;

// Tiles that would read beyond the ends of a row read a copy, with zeros beside it. The copies are
// made when all tiles of some rows are placed for the first time, and found again in the same
// order.
typedef struct placing {
    const zn_conv_dot_args *a;
    int64_t pixel_bytes, pixels, span; // pixels of a tile; those that it reads of a row
    uint8_t *stage, *next_stage;
    bool staged; // the copies are there already
} placing;

static inline placing placing_make(const zn_conv_dot_args *a, int pixels, uint8_t *stage)
{
    return (placing){.a = a,
                     .pixel_bytes = a->channels_in * (int64_t)zn_type_size(a->src_type),
                     .pixels = pixels,
                     .span = (int64_t)(pixels - 1) * a->stride + a->kernel_w,
                     .stage = stage};
}

// `bytes` must be a multiple of a cache line: few of them, so that calling memcpy would cost more.
static inline void copy_lines(uint8_t *dst, const uint8_t *src, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += ZN_CONV_DOT_BYTES)
        _mm512_storeu_si512(dst + i, _mm512_loadu_si512(src + i));
}

static inline void zero_lines(uint8_t *dst, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += ZN_CONV_DOT_BYTES)
        _mm512_storeu_si512(dst + i, _mm512_setzero_si512());
}

// Copies `rows` rows of what the tile at (row, x) reads, with zeros where that is outside the row.
static inline void stage_rows(const placing *p, int64_t row, int64_t left, int64_t rows)
{
    const zn_conv_dot_args *a = p->a;
    const size_t pixel = (size_t)p->pixel_bytes;
    const int64_t first = left < 0 ? -left : 0;
    const int64_t inside = a->width_in - left, last = inside < p->span ? inside : p->span;
    for (int64_t i = 0; i < rows; i++) {
        uint8_t *dst = p->next_stage + (size_t)(i * p->span) * pixel;
        const int64_t from = row * a->stride + i;
        const uint8_t *src = (const uint8_t *)a->src - (from >= a->src_wrap ? a->src_ring : 0) +
                             (size_t)(from * a->width_in + left + first) * pixel;
        zero_lines(dst, (size_t)first * pixel);
        copy_lines(dst + (size_t)first * pixel, src, (size_t)(last - first) * pixel);
        zero_lines(dst + (size_t)last * pixel, (size_t)(p->span - last) * pixel);
    }
}

// The tiles at x of `count` rows from `row` on. At the end of a row they begin earlier, so that
// they are whole: the pixels they share with the ones before are computed twice, with the same
// bits.
static inline void place_tiles(placing *p, tile *t, int64_t row, int64_t x, int count)
{
    const zn_conv_dot_args *a = p->a;
    if (x + p->pixels > a->x_end)
        x = a->x_end - p->pixels > a->x_begin ? a->x_end - p->pixels : a->x_begin;
    const int64_t left = x * a->stride - a->pad_left;
    const bool staged = left < 0 || left + p->span > a->width_in;
    const int64_t rows = (count - 1) * a->stride + a->kernel_h;
    const int64_t src_row = (staged ? p->span : a->width_in) * p->pixel_bytes;
    const uint8_t *src = (const uint8_t *)a->src + row * a->stride * src_row +
                         left * p->pixel_bytes;
    if (staged) {
        if (!p->staged) stage_rows(p, row, left, rows);
        src = p->next_stage;
        p->next_stage += rows * src_row;
    }
    for (int i = 0; i < count; i++) {
        t[i].src = src + i * a->stride * src_row;
        t[i].src_row = src_row;
        t[i].wrap = staged ? INT64_MAX : a->src_wrap - (row + i) * a->stride;
        t[i].out = (row + i) * a->dst_row + x * a->dst_step;
        t[i].count = a->x_end - x < p->pixels ? a->x_end - x : p->pixels;
    }
}

// 0 with relu, and for what has no sign.
static inline float lowest_result(const zn_conv_dot_args *a)
{
    return a->relu || a->dst_type == ZN_U8 ? 0.0f : -__builtin_inff();
}

static inline size_t type_size(zn_type type)
{
    return type == ZN_TYPE_COUNT ? 0 : type == ZN_F32 ? 4 : type == ZN_BF16 ? 2 : 1;
}

static inline __m512 load_residual(zn_type type, const void *src)
{
    switch (type) {
    case ZN_BF16:
        return vec_load_bf16(src);
    case ZN_U8:
        return vec_load_u8(src);
    case ZN_S8:
        return vec_load_s8(src);
    default:
        return vec_load_f32(src);
    }
}

// Integers saturate where 32 bits become 8. A number too large for 32 bits becomes the lowest of
// them: that is above 255 without a sign, and the floor keeps what is below 0 away from it.
static inline __m128i to_u8(__m512 t)
{
    return _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(t));
}

static inline __m128i to_s8(__m512 t)
{
    return _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(_mm512_min_ps(t, _mm512_set1_ps(127))));
}

static inline __m256i to_bf16(__m512 t)
{
#ifdef __AVX512BF16__
    return (__m256i)_mm512_cvtneps_pbh(t);
#else
    return _mm512_cvtepi32_epi16(vec_to_bf16(t));
#endif
}

static inline void store(zn_type type, __m512 t, void *dst)
{
    switch (type) {
    case ZN_BF16:
        _mm256_storeu_si256(dst, to_bf16(t));
        return;
    case ZN_U8:
        _mm_storeu_si128(dst, to_u8(t));
        return;
    case ZN_S8:
        _mm_storeu_si128(dst, to_s8(t));
        return;
    default:
        _mm512_storeu_ps(dst, t);
    }
}

// The first `room` lanes of it.
static inline void store_some(zn_type type, __m512 t, void *dst, size_t room)
{
    const __mmask16 lanes = (__mmask16)((1u << room) - 1);
    switch (type) {
    case ZN_BF16:
        _mm256_mask_storeu_epi16(dst, lanes, to_bf16(t));
        return;
    case ZN_U8:
        _mm_mask_storeu_epi8(dst, lanes, to_u8(t));
        return;
    case ZN_S8:
        _mm_mask_storeu_epi8(dst, lanes, to_s8(t));
        return;
    default:
        _mm512_mask_storeu_ps(dst, lanes, t);
    }
}

#endif
