// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/rotation.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/rotation_body.h"

void zn_rotation_avx2(float *values, int64_t count, int64_t group)
{
    rotation(values, count, group);
}
