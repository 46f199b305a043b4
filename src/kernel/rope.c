// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of rope.h, in double, and the choice of a version.
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

static const struct {
    zn_isa isa;
    zn_rope_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, zn_rope_scalar},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_rope_avx2},
    {ZN_ISA_AVX512, zn_rope_avx512},
#endif
};

zn_rope_fn *zn_rope_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
