// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// e^x over an array. vector_exp.h, which kernels that need it in a register include, says how exact
// it is.
#ifndef ZN_KERNEL_EXP_H
#define ZN_KERNEL_EXP_H

#include "src/kernel/versions.h"

#include <stddef.h>

// dst[i] = e^(src[i] - shift). dst may be src.
typedef void zn_exp_fn(const float *src, float shift, float *dst, size_t count);

ZN_VERSIONS(zn_exp_fn, zn_exp);

#endif
