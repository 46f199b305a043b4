// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The version for every CPU, and the choice of a version.
#include "src/kernel/attention.h"

#include "src/kernel/vector_baseline.h"

#include "src/kernel/attention_body.h"

void zn_attention_baseline(const zn_attention_args *args, int64_t begin, int64_t end)
{
    attention(args, begin, end);
}

// Slowest first. Tiles multiply bf16 alone.
static const struct {
    zn_isa isa;
    bool bf16_only;
    zn_attention_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, false, zn_attention_baseline},
#ifdef __x86_64__
    {ZN_ISA_AVX2, false, zn_attention_avx2},
    {ZN_ISA_AVX512, false, zn_attention_avx512},
#ifndef _WIN32 // os_windows_machine.c does not ask for tiles
    {ZN_ISA_AMX, true, zn_attention_amx},
#endif
#endif
};

zn_attention_fn *zn_attention_pick(zn_isa isa, zn_type products)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa || (versions[best].bf16_only && products != ZN_BF16)) best--;
    return versions[best].run;
}
