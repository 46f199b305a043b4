// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector version of group_norm_apply.h, in the names of x86/vector_*.h (or vector_baseline.h), which the
// including file has included. Channels beyond the last full vector go through buffers.
#include "src/kernel/element.h"
#include "src/kernel/group_norm_apply.h"
#include "src/kernel/silu_body.h"

#include <string.h>

static inline vec normed(vec value, const float *scale, const float *shift)
{
    return vec_add(vec_mul(value, vec_load_f32(scale)), vec_load_f32(shift));
}

static inline vec normed_silu(vec value, const float *scale, const float *shift)
{
    return vec_silu(normed(value, scale, shift));
}

#define GROUP_NORM(from, to, apply)                                                                \
    static void from##_to_##to##_##apply(const void *src, size_t pixels, size_t channels,          \
                                         const float *scale, const float *shift, void *dst)        \
    {                                                                                              \
        const size_t whole = channels / LANES * LANES, rest = channels - whole;                    \
        const element_##from *x = src;                                                             \
        element_##to *y = dst;                                                                     \
        float last_scale[LANES] = {0}, last_shift[LANES] = {0};                                    \
        memcpy(last_scale, scale + whole, rest * sizeof *scale);                                   \
        memcpy(last_shift, shift + whole, rest * sizeof *shift);                                   \
        for (size_t p = 0; p < pixels; p++, x += channels, y += channels) {                        \
            for (size_t c = 0; c < whole; c += LANES)                                              \
                vec_store_##to(y + c, apply(vec_load_##from(x + c), scale + c, shift + c));        \
            if (rest == 0) continue;                                                               \
            element_##from last[LANES] = {0};                                                      \
            element_##to made[LANES];                                                              \
            memcpy(last, x + whole, rest * sizeof *x);                                             \
            vec_store_##to(made, apply(vec_load_##from(last), last_scale, last_shift));            \
            memcpy(y + whole, made, rest * sizeof *y);                                             \
        }                                                                                          \
    }
#define GROUP_NORMS(from, to)                                                                      \
    GROUP_NORM(from, to, normed)                                                                   \
    GROUP_NORM(from, to, normed_silu)
GROUP_NORMS(f32, f32)
GROUP_NORMS(f32, bf16)
GROUP_NORMS(bf16, f32)

// bf16 to bf16 by pairs of channels, which are taken apart and put together with one operation for each
// vector. Factors and terms are taken apart likewise, once for SEGMENT channels of all pixels.
enum { SEGMENT = 512 };

typedef struct gn_segment {
    size_t count, padded; // channels; those up to a multiple of two vectors
    _Alignas(64) float scale[2][SEGMENT / 2], shift[2][SEGMENT / 2];
} gn_segment;

static void gn_prepare(gn_segment *s, size_t count, const float *scale, const float *shift)
{
    s->count = count;
    s->padded = (count + 2 * LANES - 1) / (2 * LANES) * (2 * LANES);
    for (size_t c = 0; c < s->padded; c++) {
        s->scale[c % 2][c / 2] = c < count ? scale[c] : 0;
        s->shift[c % 2][c / 2] = c < count ? shift[c] : 0;
    }
}

enum { CHAINS = LANES > 8 ? 4 : 2 }; // vectors side by side: as registers allow

// `count` vectors of pairs, from channel c on; constant where this is inlined, and so is silu.
static inline __attribute__((always_inline)) void gn_pairs(const gn_segment *s, size_t c,
                                                           const uint16_t *x, uint16_t *y,
                                                           const int count, const bool silu)
{
    vec value[CHAINS];
    UNROLL
    for (int i = 0; i < count; i++) {
        const uint16_t *from = x + i / 2 * 2 * LANES;
        const size_t at = c / 2 + (size_t)(i / 2 * LANES);
        value[i] = normed(i % 2 ? vec_load_second_bf16(from) : vec_load_first_bf16(from),
                          s->scale[i % 2] + at, s->shift[i % 2] + at);
    }
    if (silu) vec_silu_bf16(value, count);
    UNROLL
    for (int i = 0; i < count; i += 2) vec_store_pairs_bf16(y + i * LANES, value[i], value[i + 1]);
}

static inline __attribute__((always_inline)) void gn_rows(const gn_segment *s, const uint16_t *x,
                                                          size_t pixels, size_t channels,
                                                          uint16_t *y, const bool silu)
{
    const size_t step = CHAINS * LANES, whole = s->count / (2 * LANES) * (2 * LANES);
    for (size_t p = 0; p < pixels; p++, x += channels, y += channels) {
        size_t c = 0;
        for (; c + step <= whole; c += step) gn_pairs(s, c, x + c, y + c, CHAINS, silu);
        for (; c < whole; c += 2 * LANES) gn_pairs(s, c, x + c, y + c, 2, silu);
        if (c == s->count) continue;
        uint16_t last[2 * LANES] = {0};
        memcpy(last, x + c, (s->count - c) * sizeof *x);
        gn_pairs(s, c, last, last, 2, silu);
        memcpy(y + c, last, (s->count - c) * sizeof *y);
    }
}

#define GROUP_NORM_PAIRS(name, silu)                                                               \
    static void name(const void *src, size_t pixels, size_t channels, const float *scale,          \
                     const float *shift, void *dst)                                                \
    {                                                                                              \
        gn_segment s;                                                                              \
        for (size_t c = 0; c < channels; c += SEGMENT) {                                           \
            const size_t left = channels - c;                                                      \
            gn_prepare(&s, left < SEGMENT ? left : SEGMENT, scale + c, shift + c);                 \
            gn_rows(&s, (const uint16_t *)src + c, pixels, channels, (uint16_t *)dst + c, silu);   \
        }                                                                                          \
    }
GROUP_NORM_PAIRS(bf16_to_bf16_normed, false)
GROUP_NORM_PAIRS(bf16_to_bf16_normed_silu, true)

static zn_group_norm_fn *group_norm_of(zn_type from, zn_type to, bool silu)
{
    static zn_group_norm_fn *const all[2][2][2] = {
        {{f32_to_f32_normed, f32_to_f32_normed_silu},
         {f32_to_bf16_normed, f32_to_bf16_normed_silu}},
        {{bf16_to_f32_normed, bf16_to_f32_normed_silu},
         {bf16_to_bf16_normed, bf16_to_bf16_normed_silu}},
    };
    const bool fits = (from == ZN_F32 || from == ZN_BF16) && (to == ZN_F32 || to == ZN_BF16);
    return fits ? all[from == ZN_BF16][to == ZN_BF16][silu] : NULL;
}
