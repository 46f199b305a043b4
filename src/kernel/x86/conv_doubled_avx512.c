// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/conv_doubled.c in AVX-512, with fused multiply-adds.
#include "src/kernel/x86/vector_avx512.h"

#include "src/kernel/conv_doubled_body.h"

void zn_doubled_avx512(const zn_doubled_args *args, const zn_area *area, float *scratch)
{
    run_area(args, area, scratch);
}
