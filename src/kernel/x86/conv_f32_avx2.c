// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/conv_f32.c in AVX2, with fused multiply-adds.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/conv_f32_body.h"

void zn_conv_f32_avx2(const zn_conv_f32_args *args, int64_t begin, int64_t end)
{
    run_rows(args, begin, end);
}
