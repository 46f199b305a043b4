// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of token_norm.h, in double, and the choice of a version.
#include "src/kernel/token_norm.h"

#include <math.h>

enum { SUMS = 8 }; // side by side, in a fixed order

static double sum_of(const float *x, size_t n, double mean, bool square)
{
    double sums[SUMS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = (double)x[i] - mean;
        sums[i % SUMS] += square ? d * d : d;
    }
    for (size_t k = 0; k < SUMS; k++) sum += sums[k];
    return sum;
}

zn_token_stats zn_token_norm_stats(const zn_token_norm *norm, const float *x)
{
    const double n = (double)norm->width;
    const double mean = norm->centred ? sum_of(x, norm->width, 0, false) / n : 0;
    const double variance = sum_of(x, norm->width, mean, true) / n;
    return (zn_token_stats){mean, 1 / sqrt(variance + (double)norm->epsilon)};
}

void zn_token_norm_scalar(const zn_token_norm *norm, const float *x, size_t rows, float *dst)
{
    for (size_t r = 0; r < rows; r++, x += norm->width, dst += norm->width) {
        const zn_token_stats s = zn_token_norm_stats(norm, x);
        for (size_t i = 0; i < norm->width; i++) {
            const double gain = norm->gain ? (double)norm->gain[i] : 1;
            const double bias = norm->bias ? (double)norm->bias[i] : 0;
            dst[i] = (float)(((double)x[i] - s.mean) * s.rstd * gain + bias);
        }
    }
}

static void gradient_row(const zn_token_norm *norm, const float *dy, const float *x, float *dst)
{
    const zn_token_stats s = zn_token_norm_stats(norm, x);
    const double n = (double)norm->width;
    double sums[SUMS] = {0}, products[SUMS] = {0}, sum = 0, product = 0;
    for (size_t i = 0; i < norm->width; i++) {
        const double g = (double)dy[i] * (norm->gain ? (double)norm->gain[i] : 1);
        sums[i % SUMS] += g;
        products[i % SUMS] += g * ((double)x[i] - s.mean) * s.rstd;
    }
    for (size_t k = 0; k < SUMS; k++) sum += sums[k], product += products[k];
    if (!norm->centred) sum = 0;
    for (size_t i = 0; i < norm->width; i++) {
        const double g = (double)dy[i] * (norm->gain ? (double)norm->gain[i] : 1);
        const double z = ((double)x[i] - s.mean) * s.rstd;
        dst[i] = (float)(s.rstd * (g - sum / n - z * product / n));
    }
}

void zn_token_norm_gradient_scalar(const zn_token_norm *norm, const float *dy, const float *x,
                                   size_t rows, float *dst)
{
    for (size_t r = 0; r < rows; r++)
        gradient_row(norm, dy + r * norm->width, x + r * norm->width, dst + r * norm->width);
}

static const struct version {
    zn_isa isa;
    zn_token_norm_fn *run;
    zn_token_norm_gradient_fn *gradient;
} versions[] = {
    {ZN_ISA_BASELINE, zn_token_norm_scalar, zn_token_norm_gradient_scalar},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_token_norm_avx2, zn_token_norm_gradient_avx2},
    {ZN_ISA_AVX512, zn_token_norm_avx512, zn_token_norm_gradient_avx512},
#endif
};

static const struct version *pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return &versions[best];
}

zn_token_norm_fn *zn_token_norm_pick(zn_isa isa)
{
    return pick(isa)->run;
}

zn_token_norm_gradient_fn *zn_token_norm_gradient_pick(zn_isa isa)
{
    return pick(isa)->gradient;
}
