// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tests of conv_dot with its AMX version on emulated tiles (amx_emulated.h), on CPUs with AVX-512.
// Elsewhere they test the scalar version once more.
#include "src/kernel/conv_dot.h"

#ifdef __x86_64__
zn_conv_dot_fn zn_conv_dot_amx_emulated;
#endif

static zn_conv_dot_fn *emulated_pick(const zn_cpu *cpu, zn_type src)
{
    (void)src;
#ifdef __x86_64__
    if (cpu->isa >= ZN_ISA_AVX512) return zn_conv_dot_amx_emulated;
#endif
    (void)cpu;
    return NULL;
}

#define zn_conv_dot_pick emulated_pick
#define conv_dot         conv_dot_emulated // the name in KERNEL_GROUP
#include "tests/kernel/test_conv_dot.c"
