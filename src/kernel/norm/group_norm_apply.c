// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Channels beyond the last full vector go through buffers. See group_norm_apply.h.
#include "src/kernel/norm/group_norm_apply.h"

#include "src/kernel/element.h"
#include "src/kernel/pointwise/vector_exp.h"
#include "src/kernel/vector.h"

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
GROUP_NORMS(bf16, bf16)

zn_group_norm_fn *VERSION(zn_group_norm)(zn_type from, zn_type to, bool silu)
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
