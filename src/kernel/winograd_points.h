// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The points of Winograd's F(4, 3) (winograd.h) in the order 0, A, -A, B, -B, infinity. All numbers
// here are exact in f32. The matrices:
//
//     B: row of point p = the coefficients of the product of (x - q) over all finite points q but p
//        (of infinity: over all), so that
//            v[0]  = d4 - (A^2 + B^2) d2 + A^2 B^2 d0
//            v[+-A] = (d4 - B^2 d2) +- A (d3 - B^2 d1)
//            v[+-B] = (d4 - A^2 d2) +- B (d3 - A^2 d1)
//            v[inf] = d5 - (A^2 + B^2) d3 + A^2 B^2 d1
//     G: row of point p = (1, p, p^2) / product of (p - q) over the other finite points
//     A: y[i] = sum over finite p of p^i m[p], and m[inf] added to y[3]
#ifndef ZN_KERNEL_WINOGRAD_POINTS_H
#define ZN_KERNEL_WINOGRAD_POINTS_H

#define POINT_A    0.75f
#define POINT_B    1.5f
#define A_SQUARED  (POINT_A * POINT_A)
#define B_SQUARED  (POINT_B * POINT_B)
#define SQUARES    (A_SQUARED + B_SQUARED)
#define SQUARES_AB (A_SQUARED * B_SQUARED)

#endif
