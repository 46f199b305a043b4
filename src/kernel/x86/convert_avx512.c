// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/convert.c in AVX-512.
#include "src/kernel/x86/vector_avx512.h"

#include "src/kernel/convert_body.h"

zn_convert_fn *zn_convert_avx512(zn_type from, zn_type to)
{
    return convert_pairs[from][to];
}
