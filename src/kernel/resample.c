// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of resample.h, and the choice of a version.
#include "src/kernel/resample.h"

static uint8_t to_byte(int32_t sum)
{
    const int32_t value = sum >> ZN_RESAMPLE_POINT;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static const int32_t half = 1 << (ZN_RESAMPLE_POINT - 1);

void zn_resample_across_scalar(const zn_resample_taps *taps, const uint8_t *src, uint8_t *dst,
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

void zn_resample_down_scalar(const int32_t *weights, size_t count, const uint8_t *src,
                             size_t stride, uint8_t *dst, size_t samples)
{
    for (size_t i = 0; i < samples; i++) {
        int32_t sum = half;
        for (size_t k = 0; k < count; k++) sum += src[k * stride + i] * weights[k];
        dst[i] = to_byte(sum);
    }
}

static const struct {
    zn_isa isa;
    zn_resample run;
} versions[] = {
    {ZN_ISA_BASELINE, {zn_resample_across_scalar, zn_resample_down_scalar}},
#ifdef __x86_64__
    {ZN_ISA_AVX2, {zn_resample_across_avx2, zn_resample_down_avx2}},
    {ZN_ISA_AVX512, {zn_resample_across_avx512, zn_resample_down_avx512}},
#endif
};

zn_resample zn_resample_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
