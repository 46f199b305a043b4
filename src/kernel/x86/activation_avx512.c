// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/activation.c in AVX-512.
#include "src/kernel/x86/vector_avx512.h"

#include "src/kernel/activation_body.h"

zn_activation_fn *zn_activation_avx512(zn_curve curve, bool slope)
{
    return activation_of(curve, slope);
}
