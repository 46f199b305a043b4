// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What gradients go through between convolutions: where a map was used twice its gradients are
// added, and below a relu only those of positive results go on, in one pass.
//
//     dst = a + b where y > 0, else 0            rounded to the type once
//
// Without b it is a, bit by bit; without y it is the sum everywhere. A NaN in y is not positive.
#ifndef ZN_KERNEL_MASKED_SUM_H
#define ZN_KERNEL_MASKED_SUM_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

// All arrays are of `count` f32 or bf16; b or y may be NULL. dst may be any of the others, and must
// not overlap one otherwise. Every version gives the same bits.
typedef void zn_masked_sum_fn(zn_type type, const void *a, const void *b, const void *y, void *dst,
                              size_t count);

zn_masked_sum_fn zn_masked_sum_reference; // the specification
ZN_VERSIONS(zn_masked_sum_fn, zn_masked_sum);

#endif
