// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of resample.h.
#include "src/kernel/pointwise/resample.h"

static uint8_t to_byte(int32_t sum)
{
    const int32_t value = sum >> ZN_RESAMPLE_POINT;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static const int32_t half = 1 << (ZN_RESAMPLE_POINT - 1);

void zn_resample_across_reference(const zn_resample_taps *taps, const uint8_t *src, uint8_t *dst,
                                  size_t pixels)
{
    for (size_t x = 0; x < pixels; x++, dst += 3) {
        const int32_t *weights = taps->weights + x * taps->pitch;
        const uint8_t *from = src + 4 * (size_t)taps->first[x];
        int32_t red = half, green = half, blue = half;
        for (uint32_t k = 0; k < taps->count[x]; k++, from += 4, weights += ZN_RESAMPLE_STEP) {
            red += from[0] * *weights;
            green += from[1] * *weights;
            blue += from[2] * *weights;
        }
        dst[0] = to_byte(red);
        dst[1] = to_byte(green);
        dst[2] = to_byte(blue);
    }
}

void zn_resample_down_reference(const int32_t *weights, size_t count, const uint8_t *src,
                                size_t stride, uint8_t *dst, size_t samples)
{
    for (size_t i = 0; i < samples; i++) {
        int32_t sum = half;
        for (size_t k = 0; k < count; k++) sum += src[k * stride + i] * weights[k];
        dst[i] = to_byte(sum);
    }
}
