// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tiles of linear.h with floating weights, and what is common to versions of one instruction
// set.
//
// CONV_PIXELS tokens times a panel of two vectors stay in registers while k runs; each sum runs in
// the order of k.
#include "src/kernel/linear/linear.h"

#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

#include <float.h>
#include <math.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    LINEAR_TURN = 4,   // k of one turn of the inner loop
    LINEAR_NEAR = 1024 // bytes by which weights are brought into the first-level cache before use
};

// One panel. `tokens` and `bf16` are constants at each call, so that acc lives in registers. Four
// tokens hang on one pointer, and four k are one turn: that is what addresses with a displacement
// reach.
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
            const vec w0 = bf16 ? vec_load_first_bf16(weights) : vec_load_f32(weights);
            const vec w1 = bf16 ? vec_load_second_bf16(weights)
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
void VERSION(zn_linear_end)(const zn_linear_end *e)
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

float VERSION(zn_linear_round)(const float *src, int64_t n, int offset, int8_t *dst)
{
    const float largest = zn_linear_largest(src, n);
    const bool finite = largest <= FLT_MAX, normal = finite && largest >= 128 * FLT_MIN;
    const float up = normal ? ZN_LINEAR_LEVELS / largest : 0;
    for (int64_t i = 0; i < n; i++)
        dst[i] = (int8_t)(finite ? (int)rintf(src[i] * up) + offset : offset);
    return normal ? largest / ZN_LINEAR_LEVELS : finite ? 0 : NAN;
}

#ifdef ZN_BASELINE // the specification of 8 bits, and the version for every CPU

// A group is 4, a panel 8.
static void s8_baseline(const zn_linear_tile *t)
{
    enum { PANEL = 8, GROUP = 4, TOKENS = CONV_PIXELS };
    for (int n = 0; n < t->panels * TOKENS * PANEL; n++) {
        const int panel = n / (TOKENS * PANEL), token = n / PANEL % TOKENS, o = n % PANEL;
        if (token >= t->tokens) continue;
        const int8_t *x = (const int8_t *)t->placed + token * t->stride;
        const int8_t *w = (const int8_t *)t->weights + panel * t->k * PANEL + o * GROUP;
        int32_t *sum = (int32_t *)t->sums + n, total = t->first ? 0 : *sum;
        for (int64_t k = 0; k < t->k; k++) total += x[k] * w[k / GROUP * GROUP * PANEL + k % GROUP];
        *sum = total;
    }
}

// The specification of the versions' unpacking, for any panel and group.
static void unpack_baseline(const zn_linear_unpack *u)
{
    for (int64_t k = 0; k < u->count; k++)
        for (int64_t o = 0; o < u->outputs; o++)
            u->dst[(k / u->group * u->outputs + o) * u->group + k % u->group] = (int8_t)
                zn_panels_byte(u->panels, u->padded_inputs, u->output + o, u->k + k);
}

const zn_linear_version zn_linear_s8_baseline = {
    .name = "baseline",
    .weights = ZN_S8,
    .placed = ZN_S8,
    .tokens = CONV_PIXELS,
    .panel = 8,
    .group = 4,
    .step = 4,
    .run = 1536,
    .tile = s8_baseline,
    .end = zn_linear_end_baseline,
    .round = zn_linear_round_baseline,
    .unpack = unpack_baseline,
};

#endif

#define FLOATING                                                                                   \
    .name = VERSION_NAME, .placed = ZN_F32, .tokens = CONV_PIXELS, .panel = 2 * LANES, .group = 1, \
    .step = 4, .run = 384, .end = VERSION(zn_linear_end), .round = VERSION(zn_linear_round)
const zn_linear_version VERSION(zn_linear_f32) = {FLOATING, .weights = ZN_F32, .tile = linear_f32};
const zn_linear_version VERSION(zn_linear_bf16) = {FLOATING, .weights = ZN_BF16, .paired = true,
                                                   .tile = linear_bf16};
