// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The version for every CPU, and the choice of a version.
#include "src/kernel/attention_gradient.h"

#include "src/kernel/vector_baseline.h"

#include "src/kernel/attention_gradient_body.h"

// Slowest first.
static const zn_attention_gradient_version versions[] = {
    {ZN_ISA_BASELINE, "kernel:baseline", attention_gradient_queries, attention_gradient_keys},
#ifdef __x86_64__
    {ZN_ISA_AVX2, "kernel:avx2", zn_attention_gradient_queries_avx2,
     zn_attention_gradient_keys_avx2},
    {ZN_ISA_AVX512, "kernel:avx512", zn_attention_gradient_queries_avx512,
     zn_attention_gradient_keys_avx512},
#endif
};

const zn_attention_gradient_version *zn_attention_gradient_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return &versions[best];
}
