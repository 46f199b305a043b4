// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/modulate.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/modulate_body.h"

void zn_modulate_avx2(const zn_modulation *how, const float *x, size_t pixels, float *dst)
{
    modulate(how, x, pixels, dst);
}
