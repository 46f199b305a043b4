// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The version for every CPU, and the choice of one. See depthwise.h.
#include "src/kernel/vector_baseline.h"

#include "src/kernel/depthwise_body.h"

static void depthwise_baseline(const zn_depthwise_args *args)
{
    depthwise(args);
}

static void depthwise_sums_baseline(const zn_depthwise_sums_args *args)
{
    depthwise_sums(args);
}

static const struct {
    zn_isa isa;
    zn_depthwise_fn *run;
    zn_depthwise_sums_fn *sums;
} versions[] = {
    {ZN_ISA_BASELINE, depthwise_baseline, depthwise_sums_baseline},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_depthwise_avx2, zn_depthwise_sums_avx2},
    {ZN_ISA_AVX512, zn_depthwise_avx512, zn_depthwise_sums_avx512},
#endif
};

static size_t best_for(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return best;
}

zn_depthwise_fn *zn_depthwise_pick(zn_isa isa)
{
    return versions[best_for(isa)].run;
}

zn_depthwise_sums_fn *zn_depthwise_sums_pick(zn_isa isa)
{
    return versions[best_for(isa)].sums;
}
