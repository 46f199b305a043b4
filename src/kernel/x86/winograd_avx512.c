// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/winograd.c in AVX-512, with fused multiply-adds.
#include "src/kernel/x86/vector_avx512.h"

#include "src/kernel/winograd_body.h"

void zn_winograd_avx512(const zn_winograd_args *args, const zn_area *area, float *scratch)
{
    run_area(args, area, scratch);
}
