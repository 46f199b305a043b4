// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/group_norm_apply.c in AVX-512.
#include "src/kernel/x86/vector_avx512.h"

#include "src/kernel/group_norm_apply_body.h"

zn_group_norm_fn *zn_group_norm_avx512(zn_type from, zn_type to, bool silu)
{
    return group_norm_of(from, to, silu);
}
