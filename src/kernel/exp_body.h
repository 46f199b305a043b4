// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// e^x of each lane, written in the names of x86/vector_*.h (or vector_baseline.h), which the including
// file has included. The result is within 1.1 ulp of the true value (measured: 1.003), and within one
// step of the denormals where it is a denormal. Below -104 (and at -infinity) it is 0, above 88.73
// infinity; NaN stays NaN; e^0 is 1.
//
//     x = n ln 2 + r,  |r| <= ln 2 / 2        e^x = 2^n (1 + r + r^2 P(r))
//
// ln 2 is taken away in two parts; the first has so few bits that n times it is exact. P is Cephes'
// (expf.c), of degree 5.
#ifndef ZN_KERNEL_EXP_BODY_H
#define ZN_KERNEL_EXP_BODY_H

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

#endif
