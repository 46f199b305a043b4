// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The curves of activation.h. All of them rest on e^x (vector_exp.h), but for erf.
#include "src/kernel/pointwise/activation.h"

#include "src/kernel/pointwise/vector_exp.h"
#include "src/kernel/vector.h"

#include <math.h>
#include <string.h>

#ifdef ZN_BASELINE // the specification

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

#endif

static inline vec vec_negative(vec x)
{
    return vec_sub(vec_zero(), x);
}

static inline vec vec_within(float limit, vec x) // a NaN stays
{
    return vec_min(vec_set1(limit), vec_max(vec_set1(-limit), x));
}

// 1 / (1 + e^-x), and e^-x / (1 + e^-x), which is 1 less it without cancellation.
static inline vec vec_logistic(vec x, vec *rest)
{
    const vec e = vec_exp(vec_negative(vec_within(87.0f, x)));
    const vec s = vec_div(vec_set1(1.0f), vec_add(vec_set1(1.0f), e));
    *rest = vec_mul(e, s);
    return s;
}

static inline vec vec_silu_slope(vec x)
{
    vec rest;
    const vec s = vec_logistic(x, &rest);
    return vec_mul(s, vec_fmadd(x, rest, vec_set1(1.0f)));
}

// z P(z^2) / Q(z^2), coefficients of Eigen's erf; beyond 4 it is that of 4. Within 3.8e-7 of erf,
// in AVX-512 at every seventh float from 0 to 1e30 (the worst at 3.989).
static inline vec vec_erf(vec x)
{
    const vec z = vec_within(4.0f, x), z2 = vec_mul(z, z);
    vec p = vec_set1(-2.72614225801306e-10f);
    p = vec_fmadd(p, z2, vec_set1(2.77068142495902e-08f));
    p = vec_fmadd(p, z2, vec_set1(-2.10102402082508e-06f));
    p = vec_fmadd(p, z2, vec_set1(-5.69250639462346e-05f));
    p = vec_fmadd(p, z2, vec_set1(-7.34990630326855e-04f));
    p = vec_fmadd(p, z2, vec_set1(-2.95459980854025e-03f));
    p = vec_fmadd(p, z2, vec_set1(-1.60960333262415e-02f));
    vec q = vec_set1(-1.45660718464996e-05f);
    q = vec_fmadd(q, z2, vec_set1(-2.13374055278905e-04f));
    q = vec_fmadd(q, z2, vec_set1(-1.68282697438203e-03f));
    q = vec_fmadd(q, z2, vec_set1(-7.37332916720468e-03f));
    q = vec_fmadd(q, z2, vec_set1(-1.42647390514189e-02f));
    return vec_div(vec_mul(z, p), q);
}

static inline vec vec_normal_below(vec x) // Phi(x)
{
    const vec half = vec_set1(0.5f);
    return vec_fmadd(half, vec_erf(vec_mul(x, vec_set1(0.707106781f))), half);
}

static inline vec vec_gelu(vec x)
{
    return vec_mul(x, vec_normal_below(x));
}

static inline vec vec_gelu_slope(vec x)
{
    const vec z = vec_within(20.0f, x); // beyond it the density is 0
    const vec density = vec_exp(vec_mul(vec_set1(-0.5f), vec_mul(z, z)));
    return vec_fmadd(vec_mul(z, vec_set1(0.398942280f)), density, vec_normal_below(x));
}

static inline vec vec_twice_u(vec x) // sqrt(8 / pi) (x + 0.044715 x^3)
{
    const vec cube = vec_fmadd(vec_set1(0.0713548163f), vec_mul(x, x), vec_set1(1.59576912f));
    return vec_mul(x, cube);
}

static inline vec vec_gelu_tanh(vec x)
{
    return vec_div(x, vec_add(vec_set1(1.0f), vec_exp(vec_negative(vec_twice_u(x)))));
}

static inline vec vec_gelu_tanh_slope(vec x)
{
    vec rest;
    const vec s = vec_logistic(vec_twice_u(x), &rest), z = vec_within(20.0f, x);
    const vec du = vec_fmadd(vec_set1(0.214064449f), vec_mul(z, z), vec_set1(1.59576912f));
    return vec_fmadd(vec_mul(z, vec_mul(s, rest)), du, s);
}

// Near 0, where 1 - e^-2x cancels, a polynomial (Cephes' tanhf).
static inline vec vec_tanh_curve(vec x)
{
    const vec a = vec_max(vec_negative(x), x), z = vec_mul(a, a);
    const vec e = vec_exp(vec_mul(vec_set1(-2.0f), a));
    const vec far = vec_div(vec_sub(vec_set1(1.0f), e), vec_add(vec_set1(1.0f), e));
    vec p = vec_set1(-5.70498872745e-3f);
    p = vec_fmadd(p, z, vec_set1(2.06390887954e-2f));
    p = vec_fmadd(p, z, vec_set1(-5.37397155531e-2f));
    p = vec_fmadd(p, z, vec_set1(1.33314422036e-1f));
    p = vec_fmadd(p, z, vec_set1(-3.33332819422e-1f));
    const vec near = vec_fmadd(vec_mul(p, z), a, a), is_near = vec_sub(vec_set1(0.625f), a);
    const vec t = vec_add(vec_where_positive(is_near, near),
                          vec_sub(far, vec_where_positive(is_near, far)));
    const vec negative = vec_where_positive(vec_negative(x), t);
    return vec_sub(t, vec_add(negative, negative));
}

static inline vec vec_tanh_curve_slope(vec x)
{
    const vec e = vec_exp(vec_mul(vec_set1(-2.0f), vec_max(vec_negative(x), x)));
    const vec d = vec_add(vec_set1(1.0f), e);
    return vec_div(vec_mul(vec_set1(4.0f), e), vec_mul(d, d));
}

static inline vec vec_logistic_curve(vec x)
{
    vec rest;
    return vec_logistic(x, &rest);
}

static inline vec vec_logistic_slope(vec x)
{
    vec rest;
    const vec s = vec_logistic(x, &rest);
    return vec_mul(s, rest);
}

static inline vec vec_same(vec x)
{
    return x;
}

static inline vec vec_same_slope(vec x)
{
    return vec_fmadd(x, vec_zero(), vec_set1(1.0f)); // a NaN stays
}

// The last, partial vector goes through a buffer: no array is touched outside its n elements.
#define ACTIVATION(name)                                                                           \
    static void name(const float *x, const float *by, float *dst, size_t n)                        \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + LANES <= n; i += LANES) {                                                       \
            const vec value = vec_##name(vec_load_f32(x + i));                                     \
            vec_store_f32(dst + i, by ? vec_mul(value, vec_load_f32(by + i)) : value);             \
        }                                                                                          \
        if (i == n) return;                                                                        \
        float rest[LANES] = {0}, factors[LANES] = {0};                                             \
        memcpy(rest, x + i, (n - i) * sizeof *x);                                                  \
        if (by) memcpy(factors, by + i, (n - i) * sizeof *by);                                     \
        const vec value = vec_##name(vec_load_f32(rest));                                          \
        vec_store_f32(rest, by ? vec_mul(value, vec_load_f32(factors)) : value);                   \
        memcpy(dst + i, rest, (n - i) * sizeof *dst);                                              \
    }
ACTIVATION(silu)
ACTIVATION(silu_slope)
ACTIVATION(gelu)
ACTIVATION(gelu_slope)
ACTIVATION(gelu_tanh)
ACTIVATION(gelu_tanh_slope)
ACTIVATION(tanh_curve)
ACTIVATION(tanh_curve_slope)
ACTIVATION(logistic_curve)
ACTIVATION(logistic_slope)
ACTIVATION(same)
ACTIVATION(same_slope)

zn_activation_fn *VERSION(zn_activation)(zn_curve curve, bool slope)
{
    static zn_activation_fn *const all[ZN_CURVE_COUNT][2] = {
        [ZN_CURVE_SILU] = {silu, silu_slope},
        [ZN_CURVE_GELU] = {gelu, gelu_slope},
        [ZN_CURVE_GELU_TANH] = {gelu_tanh, gelu_tanh_slope},
        [ZN_CURVE_TANH] = {tanh_curve, tanh_curve_slope},
        [ZN_CURVE_LOGISTIC] = {logistic_curve, logistic_slope},
        [ZN_CURVE_NONE] = {same, same_slope},
    };
    return all[curve][slope];
}
