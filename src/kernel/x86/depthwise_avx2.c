// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/depthwise.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/depthwise_body.h"

void zn_depthwise_avx2(const zn_depthwise_args *args)
{
    depthwise(args);
}

void zn_depthwise_sums_avx2(const zn_depthwise_sums_args *args)
{
    depthwise_sums(args);
}
