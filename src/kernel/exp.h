// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// e^x over an array. exp_body.h, which kernels that need it in a register include, says how exact it is.
#ifndef ZN_KERNEL_EXP_H
#define ZN_KERNEL_EXP_H

#include "src/base/cpu.h"

#include <stddef.h>

// dst[i] = e^(src[i] - shift). dst may be src.
typedef void zn_exp_fn(const float *src, float shift, float *dst, size_t count);

zn_exp_fn *zn_exp_pick(zn_isa isa); // never NULL

// The versions of one instruction set; exp.c lists them.
zn_exp_fn zn_exp_baseline;
zn_exp_fn zn_exp_avx2;
zn_exp_fn zn_exp_avx512;

#endif
