// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// linear in the names of x86/vector_*.h, which the including file has included, with pair_low and
// pair_high of its own: the bf16 in the lower and the upper halves of a vector's words, as f32.
//
// CONV_PIXELS tokens times a panel of two vectors stay in registers while k runs; each sum runs in the
// order of k.
#ifndef ZN_KERNEL_LINEAR_BODY_H
#define ZN_KERNEL_LINEAR_BODY_H

#include "src/kernel/linear.h"
#include "src/kernel/unroll.h"

#include <float.h>
#include <math.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    LINEAR_TURN = 4,   // k of one turn of the inner loop
    LINEAR_NEAR = 1024 // bytes by which weights are brought into the first-level cache before use
};

// One panel. `tokens` and `bf16` are constants at each call, so that acc lives in registers. Four tokens
// hang on one pointer, and four k are one turn: that is what addresses with a displacement reach.
ALWAYS_INLINE void linear_panel(const zn_linear_tile *t, const char *weights, float *sums,
                                const char *ahead, size_t lines, const int tokens, const bool bf16)
{
    enum { PANEL = 2 * LANES };
    const size_t k_bytes = PANEL * (bf16 ? 2 : sizeof(float));
    int64_t step = t->stride, step3 = 3 * step;
    const char *left0 = t->placed, *left4 = left0 + 4 * step, *left8 = left0 + 8 * step;
    FORGET(step);
    FORGET(step3);
    vec acc[CONV_PIXELS][2];
    UNROLL
    for (int i = 0; i < tokens; i++) {
        acc[i][0] = t->first ? vec_zero() : vec_load_f32(sums + i * PANEL);
        acc[i][1] = t->first ? vec_zero() : vec_load_f32(sums + i * PANEL + LANES);
    }
    for (int64_t k = 0; k < t->k; k += LINEAR_TURN) {
        for (size_t i = 0; i < lines; i++) __builtin_prefetch(ahead + i * 64, 0, 2);
        ahead += lines * 64;
        UNROLL
        for (int n = 0; n < LINEAR_TURN; n++, weights += k_bytes) {
            for (size_t i = 0; i < k_bytes; i += 64) // from the second-level cache, in time
                __builtin_prefetch(weights + LINEAR_NEAR + i, 0, 3);
            const vec w0 = bf16 ? pair_low(weights) : vec_load_f32(weights);
            const vec w1 = bf16 ? pair_high(weights)
                                : vec_load_f32(weights + LANES * sizeof(float));
            UNROLL
            for (int i = 0; i < tokens; i++) {
                const char *left = i < 4 ? left0 : i < 8 ? left4 : left8;
                const char *at = left + (i % 4 == 3 ? step3 : i % 4 * step);
                const vec value = vec_set1(((const float *)(const void *)at)[n]);
                acc[i][0] = vec_add_product(acc[i][0], value, w0);
                acc[i][1] = vec_add_product(acc[i][1], value, w1);
            }
        }
        left0 += LINEAR_TURN * sizeof(float);
        left4 += LINEAR_TURN * sizeof(float);
        left8 += LINEAR_TURN * sizeof(float);
    }
    UNROLL
    for (int i = 0; i < tokens; i++) {
        vec_store_f32(sums + i * PANEL, acc[i][0]);
        vec_store_f32(sums + i * PANEL + LANES, acc[i][1]);
    }
}

ALWAYS_INLINE void linear_panels(const zn_linear_tile *t, const int tokens, const bool bf16)
{
    const int64_t panel = 2 * LANES, turns = t->panels * t->k / LINEAR_TURN;
    const size_t panel_bytes = (size_t)(panel * t->k) * (bf16 ? 2 : sizeof(float));
    const size_t lines = (t->ahead_bytes / 64 + (size_t)turns - 1) / (size_t)turns;
    for (int p = 0; p < t->panels; p++)
        linear_panel(t, (const char *)t->weights + (size_t)p * panel_bytes,
                     (float *)t->sums + p * CONV_PIXELS * panel,
                     t->ahead + (size_t)p * (t->ahead_bytes / (size_t)t->panels), lines, tokens,
                     bf16);
}

// Tokens that are missing up to the next of these numbers are computed with, and dropped.
ALWAYS_INLINE void linear_tile(const zn_linear_tile *t, const bool bf16)
{
    if (t->tokens == 1)
        linear_panels(t, 1, bf16);
    else if (t->tokens == 2)
        linear_panels(t, 2, bf16);
    else if (t->tokens <= 4)
        linear_panels(t, 4, bf16);
    else if (t->tokens <= 6)
        linear_panels(t, 6, bf16);
#if CONV_PIXELS > 6
    else if (t->tokens <= 8)
        linear_panels(t, 8, bf16);
    else if (t->tokens <= 10)
        linear_panels(t, 10, bf16);
    else
        linear_panels(t, CONV_PIXELS, bf16);
#endif
}

static void linear_f32(const zn_linear_tile *t)
{
    linear_tile(t, false);
}

static void linear_bf16(const zn_linear_tile *t)
{
    linear_tile(t, true);
}

// Plain loops from here on: compilers make vectors of them.
ALWAYS_INLINE void linear_end(const zn_linear_end *e)
{
    const float *sums = e->sums;
    const uint32_t *integers = e->sums;
    if (e->scales) {
        for (int64_t i = 0; i < e->n; i++)
            e->dst[i] = (float)(int32_t)(integers[i] + (uint32_t)e->starts[i]) *
                        (e->scale * e->scales[i]);
    } else {
        for (int64_t i = 0; i < e->n; i++) e->dst[i] = sums[i] * e->scale;
    }
    for (int64_t i = 0; e->bias && i < e->n; i++) e->dst[i] += e->bias[i];
}

// The largest magnitude by its bits, which integers compare in vectors: those of infinity and NaN lie above all others.
ALWAYS_INLINE float linear_largest(const float *src, int64_t n)
{
    int32_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t bits;
        memcpy(&bits, src + i, sizeof bits);
        bits &= 0x7fffffff;
        most = bits > most ? bits : most;
    }
    float largest;
    memcpy(&largest, &most, sizeof largest);
    return largest;
}

ALWAYS_INLINE float linear_round(const float *src, int64_t n, int offset, int8_t *dst)
{
    const float largest = linear_largest(src, n);
    const bool finite = largest <= FLT_MAX, normal = finite && largest >= 128 * FLT_MIN;
    const float up = normal ? ZN_LINEAR_LEVELS / largest : 0;
    for (int64_t i = 0; i < n; i++)
        dst[i] = (int8_t)(finite ? (int)rintf(src[i] * up) + offset : offset);
    return normal ? largest / ZN_LINEAR_LEVELS : finite ? 0 : NAN;
}

#endif
