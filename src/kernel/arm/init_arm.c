// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What 64-bit Arm has beyond the baseline.
#include "src/base/cpu.h"
#include "src/kernel/vector_kernels.h"

void zn_kernels_init_arm(zn_kernels *kernels, unsigned flags)
{
    if (!(flags & ZN_CPU_NEON)) return;
    ZN_TAKE_VECTOR_KERNELS(kernels, neon);
    ZN_TAKE_WIDE_KERNELS(kernels, neon);
}
