// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/token_norm.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/token_norm_body.h"

void zn_token_norm_avx2(const zn_token_norm *norm, const float *x, size_t rows, float *dst)
{
    token_norm(norm, x, rows, dst);
}

void zn_token_norm_gradient_avx2(const zn_token_norm *norm, const float *dy, const float *x,
                                 size_t rows, float *dst)
{
    token_norm_gradient(norm, dy, x, rows, dst);
}
