// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/masked_sum.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/masked_sum_body.h"

void zn_masked_sum_avx2(zn_type type, const void *a, const void *b, const void *y, void *dst,
                        size_t count)
{
    masked_sum(type, a, b, y, dst, count);
}
