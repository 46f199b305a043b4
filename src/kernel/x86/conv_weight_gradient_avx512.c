// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/conv_weight_gradient.c in AVX-512.
#include "src/kernel/x86/vector_avx512.h"

#include "src/kernel/conv_weight_gradient_body.h"

void zn_conv_weight_gradient_avx512(const zn_conv_weight_gradient_args *args, void *scratch)
{
    weight_gradient(args, scratch);
}
