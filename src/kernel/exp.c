// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The version for every CPU, and the choice of a version.
#include "src/kernel/exp.h"

#include "src/kernel/vector_baseline.h"

#include "src/kernel/exp_array.h"

void zn_exp_baseline(const float *src, float shift, float *dst, size_t count)
{
    exp_array(src, shift, dst, count);
}

static const struct {
    zn_isa isa;
    zn_exp_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, zn_exp_baseline},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_exp_avx2},
    {ZN_ISA_AVX512, zn_exp_avx512},
#endif
};

zn_exp_fn *zn_exp_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
