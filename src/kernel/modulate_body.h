// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector version of modulate.h, in the names of x86/vector_*.h (or vector_baseline.h), which the
// including file has included. Channels beyond the last full vector go one by one.
#include "src/kernel/modulate.h"

static inline vec modulated(const zn_modulation *how, vec x, size_t c, vec term)
{
    return vec_fmadd(x, vec_add(vec_set1(how->one), vec_load_f32(how->scale + c)), term);
}

static void modulate(const zn_modulation *how, const float *x, size_t pixels, float *dst)
{
    const size_t channels = how->channels, whole = channels / LANES * LANES;
    const float *residual = how->residual;
    for (size_t p = 0; p < pixels; p++, x += channels, dst += channels) {
        for (size_t c = 0; c < whole; c += LANES) {
            const vec term = how->shift ? vec_load_f32(how->shift + c)
                             : residual ? vec_load_f32(residual + c)
                                        : vec_zero();
            vec_store_f32(dst + c, modulated(how, vec_load_f32(x + c), c, term));
        }
        const zn_modulation rest = {.channels = channels - whole,
                                    .one = how->one,
                                    .scale = how->scale + whole,
                                    .shift = how->shift ? how->shift + whole : NULL,
                                    .residual = residual ? residual + whole : NULL};
        if (rest.channels) zn_modulate_scalar(&rest, x + whole, 1, dst + whole);
        if (residual) residual += channels;
    }
}
