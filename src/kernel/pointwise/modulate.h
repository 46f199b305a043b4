// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pixels of f32 times a factor for each channel, plus a term for each channel or for each value:
//
//     dst[p, c] = x[p, c] * (one + scale[c]) + shift[c]   or  + residual[p, c], or neither
//
// zn_modulate_reference is the specification, in double. Versions are within 2 * 2^-23 of the sum
// of the absolute values of x one, x scale and the term. One version gives a value the same bits
// whatever is beside it.
#ifndef ZN_KERNEL_MODULATE_H
#define ZN_KERNEL_MODULATE_H

#include "src/kernel/versions.h"

#include <stddef.h>

typedef struct zn_modulation {
    size_t channels;
    float one; // 1, or 0 where scale is the factor
    const float *scale;
    const float *shift;    // NULL: none
    const float *residual; // NULL: none; like x. Not beside a shift
} zn_modulation;

// `pixels` pixels; dst may be x or the residual.
typedef void zn_modulate_fn(const zn_modulation *how, const float *x, size_t pixels, float *dst);

zn_modulate_fn zn_modulate_reference; // the specification
ZN_VERSIONS(zn_modulate_fn, zn_modulate);

#endif
