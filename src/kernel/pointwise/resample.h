// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The two passes of resampling 8-bit pictures in fixed point: each result is the sum of some
// samples times their weights, plus a half, without the bits after the point, and ends at 0 and
// 255. Whole numbers give every version the same bits.
#ifndef ZN_KERNEL_RESAMPLE_H
#define ZN_KERNEL_RESAMPLE_H

#include "src/kernel/versions.h"

#include <stddef.h>
#include <stdint.h>

enum {
    ZN_RESAMPLE_POINT = 32 - 8 -
                        2, // bits after the point: 8 for the sample, 2 for overshoot and sign
    ZN_RESAMPLE_STEP = 4   // pixels that are weighted together along a row
};

// Along a row of pixels of four bytes, the fourth of which counts for nothing. Result x takes
// count[x] pixels from first[x] on, rounded up to full steps: what lies there has the weight 0 and
// must be readable.
typedef struct zn_resample_taps {
    const uint32_t *first, *count;
    const int32_t
        *weights; // [results][pitch], each weight ZN_RESAMPLE_STEP times, once for each byte
    size_t pitch;
} zn_resample_taps;

// Makes `pixels` pixels of three bytes.
typedef void zn_resample_across_fn(const zn_resample_taps *taps, const uint8_t *src, uint8_t *dst,
                                   size_t pixels);

// Adds up `count` rows, which are `stride` bytes apart, each times its weight: `samples` bytes.
typedef void zn_resample_down_fn(const int32_t *weights, size_t count, const uint8_t *src,
                                 size_t stride, uint8_t *dst, size_t samples);

zn_resample_across_fn zn_resample_across_reference; // the baseline's
ZN_VERSIONS(zn_resample_across_fn, zn_resample_across);

zn_resample_down_fn zn_resample_down_reference; // the baseline's
ZN_VERSIONS(zn_resample_down_fn, zn_resample_down);

#endif
