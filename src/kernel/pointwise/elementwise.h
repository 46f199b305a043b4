// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Simple passes over f32 arrays, in one version: they wait for memory, not for wide vectors. ReLU
// keeps NaN, and -0 as it is. dst may be a source, and must not overlap one otherwise.
#ifndef ZN_KERNEL_ELEMENTWISE_H
#define ZN_KERNEL_ELEMENTWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// dst = a + b, with ReLU on top if asked.
void zn_add_f32(const float *a, const float *b, bool relu, float *dst, size_t n);

void zn_relu_f32(const float *src, float *dst, size_t n);

// dst = dy where y > 0, else 0.
void zn_relu_gradient_f32(const float *dy, const float *y, float *dst, size_t n);

#endif
