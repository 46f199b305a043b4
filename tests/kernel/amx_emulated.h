// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// AMX tiles, and the AVX-512 instructions on bf16, in plain C, so that kernels for AMX are tested
// on machines without it. A file that includes this and then the source of such a kernel, with its
// exported name defined to another, is the kernel on emulated tiles:
//
//     #include "tests/kernel/amx_emulated.h"
//     #define zn_conv_dot_amx zn_conv_dot_amx_emulated
//     #include "src/kernel/x86/conv_dot_amx.c"
//
// It is compiled with the flags of AVX-512 where the kernel has such instructions (tests.cmake),
// and called only on CPUs that have them.
//
// The tiles do what Intel's manual says, in its order: a product of bf16 adds up even and odd k by
// themselves, then their sum to the destination; denormals count as zero. A kernel that uses a tile
// before the configuration is loaded, after it is released, or with sizes that do not fit together,
// is stopped.
#ifndef ZN_TESTS_KERNEL_AMX_EMULATED_H
#define ZN_TESTS_KERNEL_AMX_EMULATED_H

#include "src/tensor/type.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { EMULATED_TILES = 8, EMULATED_ROWS = 16, EMULATED_BYTES = 64 };

typedef struct emulated_tile {
    int rows, bytes;
    uint8_t data[EMULATED_ROWS][EMULATED_BYTES];
} emulated_tile;

static _Thread_local emulated_tile emulated_tiles[EMULATED_TILES];

static inline void emulated_check(int holds)
{
    if (!holds) abort();
}

static inline emulated_tile *emulated_at(int number)
{
    emulated_check(number >= 0 && number < EMULATED_TILES && emulated_tiles[number].rows > 0);
    return &emulated_tiles[number];
}

static inline void emulated_loadconfig(const void *config)
{
    const uint8_t *bytes = config;
    emulated_check(bytes[0] == 1 && bytes[1] == 0); // the palette, and no row to start from
    for (int i = 0; i < EMULATED_TILES; i++) {
        uint16_t row_bytes;
        memcpy(&row_bytes, bytes + 16 + 2 * i, sizeof row_bytes);
        emulated_tiles[i] = (emulated_tile){.rows = bytes[48 + i], .bytes = row_bytes};
        emulated_check(bytes[48 + i] <= EMULATED_ROWS && row_bytes <= EMULATED_BYTES);
    }
}

static inline void emulated_release(void)
{
    memset(emulated_tiles, 0, sizeof emulated_tiles);
}

static inline void emulated_zero(int number)
{
    memset(emulated_at(number)->data, 0, sizeof emulated_tiles->data);
}

static inline void emulated_load(int number, const void *base, size_t stride)
{
    emulated_tile *t = emulated_at(number);
    emulated_zero(number);
    for (int i = 0; i < t->rows; i++)
        memcpy(t->data[i], (const uint8_t *)base + (size_t)i * stride, (size_t)t->bytes);
}

static inline void emulated_store(int number, void *base, size_t stride)
{
    const emulated_tile *t = emulated_at(number);
    for (int i = 0; i < t->rows; i++)
        memcpy((uint8_t *)base + (size_t)i * stride, t->data[i], (size_t)t->bytes);
}

// dst [m][n], a [m][k], b [k][n], in elements of 4 bytes; k is what is multiplied.
static inline void emulated_fit(const emulated_tile *dst, const emulated_tile *a,
                                const emulated_tile *b)
{
    emulated_check(dst->rows == a->rows && a->bytes / 4 == b->rows && dst->bytes == b->bytes);
}

static inline float emulated_flush(float value)
{
    return fabsf(value) < FLT_MIN ? copysignf(0, value) : value;
}

static inline float emulated_bf16(const uint8_t *row, int index)
{
    uint16_t bits;
    memcpy(&bits, row + 2 * index, sizeof bits);
    return emulated_flush(zn_bf16_to_f32(bits));
}

static inline void emulated_dpbf16ps(int to, int left, int right)
{
    emulated_tile *dst = emulated_at(to);
    const emulated_tile *a = emulated_at(left), *b = emulated_at(right);
    float wide[EMULATED_ROWS][2 * EMULATED_ROWS];
    emulated_fit(dst, a, b);
    for (int k = 0; k < b->rows; k++) {
        for (int n = 0; n < dst->bytes / 2; n++) wide[k][n] = emulated_bf16(b->data[k], n);
    }
    for (int m = 0; m < dst->rows; m++) {
        float halves[2 * EMULATED_ROWS] = {0}, sums[EMULATED_ROWS];
        for (int k = 0; k < b->rows; k++) {
            const float pair[2] = {emulated_bf16(a->data[m], 2 * k),
                                   emulated_bf16(a->data[m], 2 * k + 1)};
            for (int n = 0; n < dst->bytes / 2; n++) // a product of two bf16 is exact
                halves[n] = emulated_flush(halves[n] + pair[n % 2] * wide[k][n]);
        }
        memcpy(sums, dst->data[m], sizeof sums);
        for (int n = 0; n < dst->bytes / 4; n++)
            sums[n] = emulated_flush(sums[n] + emulated_flush(halves[2 * n] + halves[2 * n + 1]));
        memcpy(dst->data[m], sums, sizeof sums);
    }
}

// Products of bytes, each with a sign or without; sums wrap, as they do in the tiles.
static inline void emulated_dpb(int to, int left, int right, int left_sign, int right_sign)
{
    emulated_tile *dst = emulated_at(to);
    const emulated_tile *a = emulated_at(left), *b = emulated_at(right);
    emulated_fit(dst, a, b);
    for (int m = 0; m < dst->rows; m++) {
        uint32_t sums[EMULATED_ROWS];
        memcpy(sums, dst->data[m], sizeof sums);
        for (int k = 0; k < b->rows; k++) {
            for (int i = 0; i < dst->bytes; i++) {
                const uint8_t x = a->data[m][4 * k + i % 4], y = b->data[k][i];
                sums[i / 4] += (uint32_t)((left_sign ? (int8_t)x : (int)x) *
                                          (right_sign ? (int8_t)y : (int)y));
            }
        }
        memcpy(dst->data[m], sums, sizeof sums);
    }
}

#ifdef __AVX512F__
static inline __m256i emulated_cvtneps_pbh(__m512 values)
{
    float from[16];
    uint16_t to[16];
    memcpy(from, &values, sizeof from);
    for (int i = 0; i < 16; i++) to[i] = zn_f32_to_bf16(emulated_flush(from[i]));
    return _mm256_loadu_si256((const __m256i *)(const void *)to);
}

// The lower half from the second argument, as the instruction has it.
static inline __m512i emulated_cvtne2ps_pbh(__m512 high, __m512 low)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(emulated_cvtneps_pbh(low)),
                              emulated_cvtneps_pbh(high), 1);
}

// Odd elements first, as the instruction has it.
static inline __m512 emulated_dpbf16_ps(__m512 sums, __m512i a, __m512i b)
{
    uint8_t left[64], right[64];
    float to[16];
    memcpy(left, &a, sizeof left);
    memcpy(right, &b, sizeof right);
    memcpy(to, &sums, sizeof to);
    for (int i = 0; i < 16; i++) {
        for (int odd = 1; odd >= 0; odd--)
            to[i] = emulated_flush(
                fmaf(emulated_bf16(left, 2 * i + odd), emulated_bf16(right, 2 * i + odd), to[i]));
    }
    return _mm512_loadu_ps(to);
}

#define _mm512_cvtneps_pbh(values)     emulated_cvtneps_pbh(values)
#define _mm512_cvtne2ps_pbh(high, low) emulated_cvtne2ps_pbh(high, low)
#define _mm512_dpbf16_ps(sums, a, b)   emulated_dpbf16_ps(sums, (__m512i)(a), (__m512i)(b))
#endif

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stream_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#undef _tile_dpbssd
#undef _tile_dpbsud
#undef _tile_dpbusd
#undef _tile_dpbuud
#define _tile_loadconfig(config)               emulated_loadconfig(config)
#define _tile_release()                        emulated_release()
#define _tile_zero(tile)                       emulated_zero(tile)
#define _tile_loadd(tile, base, stride)        emulated_load(tile, base, (size_t)(stride))
#define _tile_stream_loadd(tile, base, stride) emulated_load(tile, base, (size_t)(stride))
#define _tile_stored(tile, base, stride)       emulated_store(tile, base, (size_t)(stride))
#define _tile_dpbf16ps(dst, a, b)              emulated_dpbf16ps(dst, a, b)
#define _tile_dpbssd(dst, a, b)                emulated_dpb(dst, a, b, 1, 1)
#define _tile_dpbsud(dst, a, b)                emulated_dpb(dst, a, b, 1, 0)
#define _tile_dpbusd(dst, a, b)                emulated_dpb(dst, a, b, 0, 1)
#define _tile_dpbuud(dst, a, b)                emulated_dpb(dst, a, b, 0, 0)

#ifndef __AMX_TILE__
#define __AMX_TILE__ 1
#endif
#ifndef __AMX_BF16__
#define __AMX_BF16__ 1
#endif
#ifndef __AMX_INT8__
#define __AMX_INT8__ 1
#endif
#ifndef __AVX512BF16__
#define __AVX512BF16__ 1
#endif

#endif
