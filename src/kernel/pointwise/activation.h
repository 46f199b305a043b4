// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Curves that networks put values through, and their slopes, over f32 arrays:
//
//     dst[i] = curve(x[i]) * by[i]          without `by`: curve(x[i])
//
// zn_curve_value and zn_curve_slope are the specification, in double. Versions are within 8 * 2^-23
// of the curve, or of the slope, at |x|; a NaN stays NaN.
#ifndef ZN_KERNEL_ACTIVATION_H
#define ZN_KERNEL_ACTIVATION_H

#include "src/kernel/versions.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum zn_curve {
    ZN_CURVE_SILU = 0,  // x / (1 + exp(-x))
    ZN_CURVE_GELU,      // x * Phi(x)
    ZN_CURVE_GELU_TANH, // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
    ZN_CURVE_TANH,
    ZN_CURVE_LOGISTIC, // 1 / (1 + exp(-x))
    ZN_CURVE_NONE,     // x
    ZN_CURVE_COUNT
} zn_curve;

double zn_curve_value(zn_curve curve, double x);
double zn_curve_slope(zn_curve curve, double x);

// dst may be x or by, and must not overlap them otherwise.
typedef void zn_activation_fn(const float *x, const float *by, float *dst, size_t n);

// The one for a curve, or for its slope; never NULL.
typedef zn_activation_fn *zn_activation_find(zn_curve curve, bool slope);
ZN_VERSIONS(zn_activation_find, zn_activation);

#endif
