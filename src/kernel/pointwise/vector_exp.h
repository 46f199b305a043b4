// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// e^x of each lane, written in the names of x86/vector_*.h (or vector_baseline.h), which the
// including file has included. The result is within 1.1 ulp of the true value (measured: 1.003),
// and within one step of the denormals where it is a denormal. Below -104 (and at -infinity) it is
// 0, above 88.73 infinity; NaN stays NaN; e^0 is 1.
//
//     x = n ln 2 + r,  |r| <= ln 2 / 2        e^x = 2^n (1 + r + r^2 P(r))
//
// ln 2 is taken away in two parts; the first has so few bits that n times it is exact. P is Cephes'
// (expf.c), of degree 5.
#ifndef ZN_KERNEL_VECTOR_EXP_H
#define ZN_KERNEL_VECTOR_EXP_H

#include "src/kernel/vector.h"

static inline vec vec_exp(vec x)
{
    // Adding 1.5 * 2^23 rounds to a whole number. Clamping takes NaN through (vec_max, vec_min).
    const vec whole = vec_set1(12582912.0f);
    x = vec_min(vec_set1(89.0f), vec_max(vec_set1(-104.0f), x));
    const vec n = vec_sub(vec_fmadd(x, vec_set1(1.44269504f), whole), whole);
    vec r = vec_fmadd(n, vec_set1(-0.693359375f), x);
    r = vec_fmadd(n, vec_set1(2.12194440e-4f), r);
    vec p = vec_set1(1.9875691500e-4f);
    p = vec_fmadd(p, r, vec_set1(1.3981999507e-3f));
    p = vec_fmadd(p, r, vec_set1(8.3334519073e-3f));
    p = vec_fmadd(p, r, vec_set1(4.1665795894e-2f));
    p = vec_fmadd(p, r, vec_set1(1.6666665459e-1f));
    p = vec_fmadd(p, r, vec_set1(5.0000001201e-1f));
    p = vec_fmadd(p, vec_mul(r, r), r);
    return vec_times_power2(vec_add(p, vec_set1(1.0f)), n);
}

// x / (1 + e^-x) of each lane. A NaN stays NaN, infinity infinity.
//
//     e^-x = 2^t = 2^n P(t - n),  t = -x log2(e),  n the whole number below t
//
// with a polynomial of degree 5, half as many operations as vec_exp: what rounds t is a part of |x|
// 2^-24 of e^-x, which counts little beside the 1, and |x| e^-|x| is below 0.37. Within 1.5 * 2^-23
// of the curve at |x|, at 960000 values between -30 and 30.
static inline vec vec_silu(vec x)
{
    vec f;
    const vec n = vec_power2_parts(vec_mul(x, vec_set1(-1.44269504f)), &f);
    vec p = vec_set1(1.8775767e-3f);
    p = vec_fmadd(p, f, vec_set1(8.9893397e-3f));
    p = vec_fmadd(p, f, vec_set1(5.5826318e-2f));
    p = vec_fmadd(p, f, vec_set1(2.4015361e-1f));
    p = vec_fmadd(p, f, vec_set1(6.9315308e-1f));
    p = vec_fmadd(p, f, vec_set1(9.9999994e-1f));
    return vec_div(x, vec_add(vec_set1(1.0f), vec_times_power2(p, n)));
}

#endif
