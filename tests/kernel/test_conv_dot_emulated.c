// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tests of conv_dot with its AMX version on emulated tiles (amx_emulated.h), on CPUs with
// AVX-512. Elsewhere they test the scalar version once more.
#include "src/kernel/kernels.h"

#include <string.h>

#ifdef __x86_64__
zn_conv_dot_fn zn_conv_dot_amx_emulated;
#endif

static zn_conv_dot_fn *emulated(const zn_kernels *kernels, zn_type src)
{
    (void)src;
#ifdef __x86_64__
    if (strcmp(kernels->name, "avx512") == 0) return zn_conv_dot_amx_emulated;
#endif
    (void)kernels;
    return NULL;
}

#define zn_conv_dot_for emulated
#define conv_dot        conv_dot_emulated // the name in KERNEL_GROUP
#include "tests/kernel/test_conv_dot.c"
