// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Norms of short rows of f32 (a token's channels, or a group of them), each by itself:
//
//     dst = (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * gain + bias
//
// and the rms norm, where the mean is taken for 0. Without gain or bias: 1 and 0.
//
// and its gradient with respect to x. With r = 1 / sqrt(...), z = (x - mean) r and g = dy gain,
// over n channels:
//
//     dst = r (g - sum(g) / n - z sum(g z) / n)      of the rms norm: without sum(g)
//
// zn_token_norm_reference and zn_token_norm_gradient_reference are the specification, in double.
// Versions are within 3 * 2^-23 of the sum of the absolute values of (x - mean) / sqrt(...) * gain
// and of bias; the gradient within 4 * 2^-23 of its formula with absolute values in the sums and
// sums of its terms. One version gives a row the same bits whatever is beside it.
#ifndef ZN_KERNEL_TOKEN_NORM_H
#define ZN_KERNEL_TOKEN_NORM_H

#include "src/kernel/versions.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct zn_token_norm {
    size_t width; // of a row, of gain and of bias
    bool centred; // else the rms norm
    float epsilon;
    const float *gain, *bias; // NULL: 1, 0
} zn_token_norm;

// Mean (0 unless centred) and 1 / sqrt(variance + epsilon) of one row, in double.
typedef struct zn_token_stats {
    double mean, rstd;
} zn_token_stats;
zn_token_stats zn_token_norm_stats(const zn_token_norm *norm, const float *x);

// `rows` rows; dst may be x.
typedef void zn_token_norm_fn(const zn_token_norm *norm, const float *x, size_t rows, float *dst);

zn_token_norm_fn zn_token_norm_reference; // the baseline's
ZN_VERSIONS(zn_token_norm_fn, zn_token_norm);

// The gradient; dst may be dy.
typedef void zn_token_norm_gradient_fn(const zn_token_norm *norm, const float *dy, const float *x,
                                       size_t rows, float *dst);

zn_token_norm_gradient_fn zn_token_norm_gradient_reference; // the baseline's
ZN_VERSIONS(zn_token_norm_gradient_fn, zn_token_norm_gradient);

#endif
