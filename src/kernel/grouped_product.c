// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The version for every CPU, and the choice of one. See grouped_product.h.
#include "src/kernel/vector_baseline.h"

#include "src/kernel/grouped_product_body.h"

static void grouped_product_baseline(const zn_grouped_product_args *args, int64_t begin,
                                     int64_t end)
{
    grouped_product(args, begin, end);
}

static const struct {
    zn_isa isa;
    zn_grouped_product_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, grouped_product_baseline},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_grouped_product_avx2},
    {ZN_ISA_AVX512, zn_grouped_product_avx512},
#endif
};

zn_grouped_product_fn *zn_grouped_product_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
