// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The last step of a group norm over pixels of f32 or bf16, in one pass over memory:
//
//     value = src[p, c] * scale[c] + shift[c]          product and sum rounded to f32
//     dst[p, c] = value, or value / (1 + exp(-value))  rounded to the type of dst
//
// with scale = gamma * rstd and shift = beta - mean * scale. Without SiLU every version gives the
// same bits; with it, each is as near as activation.h says.
#ifndef ZN_KERNEL_GROUP_NORM_APPLY_H
#define ZN_KERNEL_GROUP_NORM_APPLY_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

// dst may be src where the types are the same.
typedef void zn_group_norm_fn(const void *src, size_t pixels, size_t channels, const float *scale,
                              const float *shift, void *dst);

// The one between these types; NULL unless both are among f32 and bf16.
typedef zn_group_norm_fn *zn_group_norm_find(zn_type from, zn_type to, bool silu);
ZN_VERSIONS(zn_group_norm_find, zn_group_norm);

#endif
