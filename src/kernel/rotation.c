// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The version for every CPU, and the choice of one.
#include "src/kernel/rotation_body.h"

bool zn_rotation_fits(int64_t count, int64_t group)
{
    for (int64_t power = 4; power <= ZN_ROTATION_MOST; power *= 4)
        if (power == group) return count % group == 0;
    return false;
}

static const struct {
    zn_isa isa;
    zn_rotation_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, rotation},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_rotation_avx2},
    {ZN_ISA_AVX512, zn_rotation_avx512},
#endif
};

zn_rotation_fn *zn_rotation_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
