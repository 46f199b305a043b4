// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/row_moments.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/row_moments_body.h"

void zn_row_moments_avx2(zn_type type, float scale, const void *row, int64_t width,
                         int64_t channels, int groups, double *out)
{
    row_moments(type, scale, row, width, channels, groups, out);
}
