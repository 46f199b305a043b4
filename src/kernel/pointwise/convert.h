// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversion between element types, with the scales of quantised ones: the u8 ends of an image
// model, bf16 and f16 storage, activations quantised after calibration.
//
//     real   = (float)src[i] * src_scale               floating src
//     real   = (float)src[i] / reciprocal(src_scale)   u8 and s8
//     dst[i] = store(real * reciprocal(dst_scale))
//
// each step rounded to f32. The reciprocal of a scale is 1 / scale, and the whole number beside it
// where that is as near as f32 can tell: the scale of pixels stands for 1/255, so 255 becomes
// exactly 1, and every other pixel what a division by 255 gives. A floating store rounds to nearest
// even; an integer store rounds to nearest even, saturates, and makes NaN 0. That is the scalar
// version in convert.c; every other one gives the same bits, NaN payloads and denormals included.
// Scales are finite and not zero (1 for types without one).
#ifndef ZN_KERNEL_CONVERT_H
#define ZN_KERNEL_CONVERT_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

#include <stddef.h>

static inline float zn_convert_reciprocal(float scale)
{
    float reciprocal = 1.0f / scale;
    if (!(reciprocal >= 1 && reciprocal < 1e6f)) return reciprocal;
    float whole = (float)(int)(reciprocal + 0.5f);
    return 1.0f / whole == scale ? whole : reciprocal;
}

// n elements; src and dst need no alignment beyond their type's and must not overlap.
typedef void zn_convert_fn(const void *src, float src_scale, void *dst, float dst_scale, size_t n);

// The one between any of f32, bf16, f16, u8 and s8, and between f32 and bf16x2; NULL for any other
// pair.
typedef zn_convert_fn *zn_convert_find(zn_type from, zn_type to);
ZN_VERSIONS(zn_convert_find, zn_convert);

#endif
