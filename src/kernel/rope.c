// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of rope.h. Every CPU has this one version.
#include "src/kernel/rope.h"

static void turn_head(const zn_rotation *how, const float *x, const float *table, float *dst)
{
    const size_t pairs = how->width / 2;
    for (size_t i = 0; i < pairs; i++) {
        const size_t first = how->halves ? i : 2 * i, second = how->halves ? i + pairs : 2 * i + 1;
        const double a = (double)x[first], b = (double)x[second];
        const double c = (double)table[i];
        const double s = how->back ? -(double)table[pairs + i] : (double)table[pairs + i];
        dst[first] = (float)(a * c - b * s);
        dst[second] = (float)(a * s + b * c);
    }
}

void zn_rope_scalar(const zn_rotation *how, const float *x, const float *table, size_t tokens,
                    float *dst)
{
    for (size_t token = 0; token < tokens; token++, table += how->width) {
        for (size_t head = 0; head < how->heads; head++, x += how->width, dst += how->width)
            turn_head(how, x, table, dst);
    }
}

zn_rope_fn *zn_rope_pick(zn_isa isa)
{
    (void)isa;
    return zn_rope_scalar;
}
