// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of modulate.h, and the choice of a version.
#include "src/kernel/vector_baseline.h"

#include "src/kernel/modulate_body.h"

void zn_modulate_scalar(const zn_modulation *how, const float *x, size_t pixels, float *dst)
{
    for (size_t i = 0; i < pixels * how->channels; i++) {
        const size_t c = i % how->channels;
        const double term = how->shift      ? (double)how->shift[c]
                            : how->residual ? (double)how->residual[i]
                                            : 0;
        dst[i] = (float)((double)x[i] * ((double)how->one + (double)how->scale[c]) + term);
    }
}

static const struct {
    zn_isa isa;
    zn_modulate_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, modulate},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_modulate_avx2},
    {ZN_ISA_AVX512, zn_modulate_avx512},
#endif
};

zn_modulate_fn *zn_modulate_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
