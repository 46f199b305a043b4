// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Channels beyond the last full vector go one by one. See modulate.h.
#include "src/kernel/pointwise/modulate.h"

#include "src/kernel/vector.h"

#ifdef ZN_BASELINE // the specification

void zn_modulate_reference(const zn_modulation *how, const float *x, size_t pixels, float *dst)
{
    for (size_t i = 0; i < pixels * how->channels; i++) {
        const size_t c = i % how->channels;
        const double term = how->shift      ? (double)how->shift[c]
                            : how->residual ? (double)how->residual[i]
                                            : 0;
        dst[i] = (float)((double)x[i] * ((double)how->one + (double)how->scale[c]) + term);
    }
}

#endif

static inline vec modulated(const zn_modulation *how, vec x, size_t c, vec term)
{
    return vec_fmadd(x, vec_add(vec_set1(how->one), vec_load_f32(how->scale + c)), term);
}

void VERSION(zn_modulate)(const zn_modulation *how, const float *x, size_t pixels, float *dst)
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
        if (rest.channels) zn_modulate_reference(&rest, x + whole, 1, dst + whole);
        if (residual) residual += channels;
    }
}
