// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The table for a CPU: the baseline, and what its architecture has beyond it.
#include "src/kernel/kernels.h"

void zn_kernels_init(zn_kernels *kernels, unsigned flags)
{
    *kernels = (zn_kernels){.linear_s8 = &zn_linear_s8_baseline,
                            .resample_across = zn_resample_across_reference,
                            .resample_down = zn_resample_down_reference};
    zn_vector_kernels_baseline(kernels);
#if defined(__x86_64__)
    zn_kernels_init_x86(kernels, flags);
#endif
    (void)flags;
}
