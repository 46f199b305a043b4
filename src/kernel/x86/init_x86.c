// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What x86-64 has beyond the baseline, from the oldest instruction set to the newest.
#include "src/base/cpu.h"
#include "src/kernel/vector_kernels.h"

#ifndef _WIN32 // os/windows_machine.c does not ask for tiles
static void take_tiles(zn_kernels *k)
{
    k->conv_weight_gradient_bf16 = zn_conv_weight_gradient_amx;
    k->conv_dot_bf16 = k->conv_dot_bytes = zn_conv_dot_amx;
    k->conv_dot_name = "amx";
    k->linear_bf16_tokens = &zn_linear_bf16_amx;
    k->linear_s8 = &zn_linear_s8_amx;
    k->attention_bf16 = zn_attention_amx;
}
#endif

void zn_kernels_init_x86(zn_kernels *k, unsigned flags)
{
    if (flags & ZN_CPU_AVX2) {
        ZN_TAKE_VECTOR_KERNELS(k, avx2);
        ZN_TAKE_WIDE_KERNELS(k, avx2);
        k->linear_s8 = &zn_linear_s8_avx2;
        k->resample_across = zn_resample_across_avx2;
        k->resample_down = zn_resample_down_avx2;
    }
    if (flags & ZN_CPU_AVX512) {
        ZN_TAKE_VECTOR_KERNELS(k, avx512);
        ZN_TAKE_WIDE_KERNELS(k, avx512);
        k->resample_across = zn_resample_across_avx512;
        k->resample_down = zn_resample_down_avx512;
    }
    if (flags & ZN_CPU_AVX512_VNNI) {
        k->linear_s8 = &zn_linear_s8_avx512_vnni;
#ifndef _WIN32
        k->conv_dot_bytes = zn_conv_dot_avx512_vnni;
        k->conv_dot_name = "avx512";
#endif
    }
#ifndef _WIN32
    if (zn_cpu_has(flags, ZN_CPU_AMX)) take_tiles(k);
#endif
}
