// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/attention.c in AVX2.
#include "src/kernel/attention.h"

#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/attention_body.h"

void zn_attention_avx2(const zn_attention_args *args, int64_t begin, int64_t end)
{
    attention(args, begin, end);
}
