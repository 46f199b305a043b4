// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/attention_gradient.c in AVX2.
#include "src/kernel/attention_gradient.h"

#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/attention_gradient_body.h"

void zn_attention_gradient_queries_avx2(const zn_attention_gradient_queries_args *args)
{
    attention_gradient_queries(args);
}

void zn_attention_gradient_keys_avx2(const zn_attention_gradient_keys_args *args)
{
    attention_gradient_keys(args);
}
