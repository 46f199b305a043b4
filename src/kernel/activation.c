// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of the curves, and the choice of a version.
#include "src/kernel/activation.h"

#include "src/kernel/vector_baseline.h"

#include "src/kernel/activation_body.h"

#include <math.h>

static const double root_half = 0.70710678118654752440, root_2_over_pi = 0.79788456080286535588,
                    root_2_pi = 2.50662827463100050242, cubic = 0.044715;

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

// Of the approximation by tanh: (1 + tanh(u)) / 2 is the logistic function of 2 u.
static double twice_u(double x)
{
    return 2 * root_2_over_pi * (x + cubic * x * x * x);
}

double zn_curve_value(zn_curve curve, double x)
{
    switch (curve) {
    case ZN_CURVE_SILU:
        return x * logistic(x);
    case ZN_CURVE_GELU:
        return 0.5 * x * erfc(-x * root_half);
    case ZN_CURVE_GELU_TANH:
        return x * logistic(twice_u(x));
    case ZN_CURVE_TANH:
        return tanh(x);
    case ZN_CURVE_LOGISTIC:
        return logistic(x);
    default:
        return x;
    }
}

double zn_curve_slope(zn_curve curve, double x)
{
    const double s = curve == ZN_CURVE_GELU_TANH ? logistic(twice_u(x)) : logistic(x);
    const double rest = curve == ZN_CURVE_GELU_TANH ? logistic(-twice_u(x)) : logistic(-x);
    switch (curve) {
    case ZN_CURVE_SILU:
        return s * (1 + x * rest);
    case ZN_CURVE_GELU:
        return 0.5 * erfc(-x * root_half) + x * exp(-0.5 * x * x) / root_2_pi;
    case ZN_CURVE_GELU_TANH:
        return s + x * s * rest * 2 * root_2_over_pi * (1 + 3 * cubic * x * x);
    case ZN_CURVE_TANH:
        return 1 / (cosh(x) * cosh(x));
    case ZN_CURVE_LOGISTIC:
        return s * rest;
    default:
        return 1;
    }
}

static const struct {
    zn_isa isa;
    zn_activation_fn *(*find)(zn_curve curve, bool slope);
} versions[] = {
    {ZN_ISA_BASELINE, activation_of},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_activation_avx2},
    {ZN_ISA_AVX512, zn_activation_avx512},
#endif
};

zn_activation_fn *zn_activation_pick(zn_isa isa, zn_curve curve, bool slope)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].find(curve, slope);
}
