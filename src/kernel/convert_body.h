// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector version of convert.c, written in the names of x86/vector_*.h, which the including file
// has included. The last, partial vector goes through a buffer, so that neither array is touched
// outside its n elements.
#include "src/kernel/convert.h"
#include "src/kernel/element.h"

#include <string.h>

#define CONVERT(from, to)                                                                          \
    static void from##_to_##to(const void *src, float src_scale, void *dst, float dst_scale,       \
                               size_t n)                                                           \
    {                                                                                              \
        const element_##from *in = src;                                                            \
        element_##to *out = dst;                                                                   \
        const vec scale = vec_set1(src_scale);                                                     \
        const vec divisor = vec_set1(zn_convert_reciprocal(src_scale));                            \
        const vec inverse = vec_set1(zn_convert_reciprocal(dst_scale));                            \
        (void)scale;                                                                               \
        (void)divisor;                                                                             \
        size_t i = 0;                                                                              \
        for (; i + LANES <= n; i += LANES) {                                                       \
            vec real = SCALED_##from(vec_mul, vec_div, vec_load_##from(in + i), scale, divisor);   \
            vec_store_##to(out + i, vec_mul(real, inverse));                                       \
        }                                                                                          \
        if (i == n) return;                                                                        \
        element_##from rest_in[LANES] = {0};                                                       \
        element_##to rest_out[LANES];                                                              \
        memcpy(rest_in, in + i, (n - i) * sizeof *in);                                             \
        vec real = SCALED_##from(vec_mul, vec_div, vec_load_##from(rest_in), scale, divisor);      \
        vec_store_##to(rest_out, vec_mul(real, inverse));                                          \
        memcpy(out + i, rest_out, (n - i) * sizeof *out);                                          \
    }

#include "src/kernel/convert_pairs.h"
