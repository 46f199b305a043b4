// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/exp.c in AVX2.
#include "src/kernel/exp.h"

#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/exp_array.h"

void zn_exp_avx2(const float *src, float shift, float *dst, size_t count)
{
    exp_array(src, shift, dst, count);
}
