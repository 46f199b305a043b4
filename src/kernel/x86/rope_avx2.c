// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/rope.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/rope_body.h"

void zn_rope_avx2(const zn_rotation *how, const float *x, const float *table, size_t tokens,
                  float *dst)
{
    rope(how, x, table, tokens, dst);
}
