// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// x / (1 + e^-x) of each lane, in the names of x86/vector_*.h (or vector_baseline.h), which the including
// file has included. A NaN stays NaN, infinity infinity.
//
//     e^-x = 2^t = 2^n P(t - n),  t = -x log2(e),  n the whole number below t
//
// with a polynomial of degree 5, half as many operations as vec_exp: what rounds t is a part of |x|
// 2^-24 of e^-x, which counts little beside the 1, and |x| e^-|x| is below 0.37. Within 1.5 * 2^-23 of
// the curve at |x|, at 960000 values between -30 and 30.
#ifndef ZN_KERNEL_SILU_BODY_H
#define ZN_KERNEL_SILU_BODY_H

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
