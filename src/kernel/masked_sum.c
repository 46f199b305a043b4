// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification, and the choice of a version. See masked_sum.h.
#include "src/kernel/masked_sum.h"

#include "src/kernel/vector_baseline.h"

#include "src/kernel/masked_sum_body.h"

void zn_masked_sum_scalar(zn_type type, const void *a, const void *b, const void *y, void *dst,
                          size_t count)
{
    const size_t size = zn_type_size(type);
    for (size_t i = 0; i < count; i++) {
        const bool positive = !y || zn_type_load(type, y, i) > 0;
        if (positive && !b)
            memmove((char *)dst + i * size, (const char *)a + i * size, size);
        else
            zn_type_store(type, dst, i,
                          positive ? zn_type_load(type, a, i) + zn_type_load(type, b, i) : 0.0f);
    }
}

static void masked_sum_baseline(zn_type type, const void *a, const void *b, const void *y,
                                void *dst, size_t count)
{
    masked_sum(type, a, b, y, dst, count);
}

static const struct {
    zn_isa isa;
    zn_masked_sum_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, masked_sum_baseline},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_masked_sum_avx2},
    {ZN_ISA_AVX512, zn_masked_sum_avx512},
#endif
};

zn_masked_sum_fn *zn_masked_sum_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
