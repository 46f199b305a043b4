// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The version of every CPU, and the choice of one. See group_norm_apply.h.
#include "src/kernel/vector_baseline.h"

#include "src/kernel/group_norm_apply_body.h"

static const struct {
    zn_isa isa;
    zn_group_norm_fn *(*find)(zn_type from, zn_type to, bool silu);
} versions[] = {
    {ZN_ISA_BASELINE, group_norm_of},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_group_norm_avx2},
    {ZN_ISA_AVX512, zn_group_norm_avx512},
#endif
};

zn_group_norm_fn *zn_group_norm_pick(zn_isa isa, zn_type from, zn_type to, bool silu)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].find(from, to, silu);
}
