// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The table for a CPU: the baseline, and what its architecture has beyond it.
#include "src/kernel/kernels.h"

#include "src/kernel/vector_kernels.h"

void zn_kernels_init(zn_kernels *kernels, unsigned flags)
{
    *kernels = (zn_kernels){.conv_f32 = zn_conv_f32_reference,
                            .winograd = zn_winograd_reference,
                            .doubled = zn_doubled_reference,
                            .linear_s8 = &zn_linear_s8_baseline,
                            .rope = zn_rope_reference,
                            .row_moments = zn_row_moments_reference,
                            .token_norm = zn_token_norm_reference,
                            .token_norm_gradient = zn_token_norm_gradient_reference,
                            .resample_across = zn_resample_across_reference,
                            .resample_down = zn_resample_down_reference,
                            .walsh = &zn_walsh_reference};
    ZN_TAKE_VECTOR_KERNELS(kernels, baseline);
#if defined(__x86_64__)
    zn_kernels_init_x86(kernels, flags);
#elif defined(__aarch64__)
    zn_kernels_init_arm(kernels, flags);
#endif
    (void)flags;
}
