// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Separable resampling in fixed point. An output sample i of an axis is the sum of the inputs
// within support * scale of its centre (i + 0.5) * scale, weighted by the filter; weights sum to 1
// and are rounded to 22 bits after the point. First all rows are resampled across into a middle
// picture of 8 bits, then its columns down; a pass that would change nothing is left out.
// The order of passes, the 8 bits between them and every rounding are those of Pillow
// (Resample.c): the goldens in tests/format compare bits.
//
//   src [height][width] --across--> middle [height][dst_width] --down--> [dst_height][dst_width]
#include "src/format/resize.h"

#include "src/base/memory.h"
#include "src/kernel/resample.h"

#include <math.h>
#include <string.h>

typedef struct taps {
    uint32_t size;   // pixels that an output can take
    uint32_t copies; // of each weight: 1, or ZN_RESAMPLE_STEP for the pass across
    size_t pitch;    // weights of an output with their copies, in full steps
    uint32_t *first;
    uint32_t *count;
    int32_t *weights; // [outputs][pitch]
} taps;

static const double pi = 3.14159265358979323846;

static double bicubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
}

static double sinc(double x)
{
    if (x == 0) return 1;
    x *= pi;
    return sin(x) / x;
}

static double lanczos(double x)
{
    return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static const struct {
    double (*weight)(double x);
    double support;
} filters[] = {[ZN_RESIZE_BICUBIC] = {bicubic, 2}, [ZN_RESIZE_LANCZOS] = {lanczos, 3}};

static void taps_free(taps *t)
{
    zn_free(t->first);
    zn_free(t->count);
    zn_free(t->weights);
}

static int32_t to_fixed(double weight)
{
    double scaled = weight * (1 << ZN_RESAMPLE_POINT);
    return (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

// Weights of output i, by way of `exact` (size doubles).
static void fill_taps(taps *t, uint32_t i, uint32_t in, double scale, zn_resize_filter filter,
                      double *exact)
{
    double stretch = scale < 1 ? 1 : scale, support = filters[filter].support * stretch;
    double centre = (i + 0.5) * scale, inverse = 1 / stretch, sum = 0;
    int64_t low = (int64_t)(centre - support + 0.5), high = (int64_t)(centre + support + 0.5);
    uint32_t first = low < 0 ? 0 : (uint32_t)low;
    uint32_t count = (high > in ? in : (uint32_t)high) - first;
    for (uint32_t k = 0; k < count; k++) {
        exact[k] = filters[filter].weight(((double)k + first - centre + 0.5) * inverse);
        sum += exact[k];
    }
    int32_t *weights = t->weights + (size_t)i * t->pitch;
    for (uint32_t k = 0; k < count; k++) {
        const int32_t weight = to_fixed(sum != 0 ? exact[k] / sum : exact[k]);
        for (uint32_t copy = 0; copy < t->copies; copy++) *weights++ = weight;
    }
    t->first[i] = first;
    t->count[i] = count;
}

static zenith_status taps_make(taps *t, uint32_t in, uint32_t out, zn_resize_filter filter,
                               uint32_t copies, zn_error *err)
{
    double scale = (double)in / out;
    t->size = (uint32_t)ceil(filters[filter].support * (scale < 1 ? 1 : scale)) * 2 + 1;
    t->copies = copies;
    t->pitch = zn_round_up(t->size, ZN_RESAMPLE_STEP) * copies;
    size_t weights;
    if (!zn_mul_size(t->pitch * sizeof *t->weights, out, &weights))
        return zn_fail_memory(err, SIZE_MAX);
    t->first = zn_alloc(out * sizeof *t->first);
    t->count = zn_alloc(out * sizeof *t->count);
    t->weights = zn_alloc_zero(weights);
    double *exact = zn_alloc(t->size * sizeof *exact);
    bool good = t->first && t->count && t->weights && exact;
    for (uint32_t i = 0; good && i < out; i++) fill_taps(t, i, in, scale, filter, exact);
    zn_free(exact);
    return good ? ZENITH_OK : zn_fail_memory(err, weights);
}

// Pixels of three bytes to those of four; the fourth is the next pixel's first, or 0.
static void widen_row(const uint8_t *src, uint32_t width, uint8_t *dst)
{
    for (uint32_t x = 0; x + 1 < width; x++) memcpy(dst + 4 * (size_t)x, src + 3 * (size_t)x, 4);
    memcpy(dst + 4 * (size_t)(width - 1), src + 3 * (size_t)(width - 1), 3);
}

static zenith_status pass_across(const uint8_t *src, uint32_t width, uint32_t height, size_t stride,
                                 zn_resize_filter filter, uint8_t *dst, uint32_t dst_width,
                                 size_t dst_stride, zn_error *err)
{
    taps t = {0};
    zn_resample_across_fn *const across = zn_resample_pick(zn_cpu_detect().isa).across;
    const size_t bytes = 4 *
                         ((size_t)width + ZN_RESAMPLE_STEP); // the last step may end beyond the row
    uint8_t *row = zn_alloc_zero(bytes);
    zenith_status status = row ? ZENITH_OK : zn_fail_memory(err, bytes);
    if (status == ZENITH_OK)
        status = taps_make(&t, width, dst_width, filter, ZN_RESAMPLE_STEP, err);
    const zn_resample_taps all = {t.first, t.count, t.weights, t.pitch};
    for (uint32_t y = 0; status == ZENITH_OK && y < height; y++) {
        widen_row(src + y * stride, width, row);
        across(&all, row, dst + y * dst_stride, dst_width);
    }
    taps_free(&t);
    zn_free(row);
    return status;
}

static zenith_status pass_down(const uint8_t *src, uint32_t height, size_t stride,
                               zn_resize_filter filter, uint8_t *dst, uint32_t width,
                               uint32_t dst_height, size_t dst_stride, zn_error *err)
{
    taps t = {0};
    zn_resample_down_fn *const down = zn_resample_pick(zn_cpu_detect().isa).down;
    zenith_status status = taps_make(&t, height, dst_height, filter, 1, err);
    for (uint32_t y = 0; status == ZENITH_OK && y < dst_height; y++)
        down(t.weights + y * t.pitch, t.count[y], src + t.first[y] * stride, stride,
             dst + y * dst_stride, 3 * (size_t)width);
    taps_free(&t);
    return status;
}

static zenith_status both_passes(const uint8_t *src, uint32_t width, uint32_t height, size_t stride,
                                 zn_resize_filter filter, uint8_t *dst, uint32_t dst_width,
                                 uint32_t dst_height, size_t dst_stride, zn_error *err)
{
    size_t row = 3 * (size_t)dst_width, bytes;
    if (!zn_mul_size(row, height, &bytes)) return zn_fail_memory(err, SIZE_MAX);
    uint8_t *middle = zn_alloc(bytes);
    if (!middle) return zn_fail_memory(err, bytes);
    zenith_status status = pass_across(src, width, height, stride, filter, middle, dst_width, row,
                                       err);
    if (status == ZENITH_OK)
        status = pass_down(middle, height, row, filter, dst, dst_width, dst_height, dst_stride,
                           err);
    zn_free(middle);
    return status;
}

zenith_status zn_resize_rgb(const uint8_t *src, uint32_t width, uint32_t height, size_t stride,
                            zn_resize_filter filter, uint8_t *dst, uint32_t dst_width,
                            uint32_t dst_height, size_t dst_stride, zn_error *err)
{
    const uint32_t most = 1 << 24; // keeps every sum of sizes here far from its type's end
    if (!width || !height || !dst_width || !dst_height || width > most || height > most ||
        dst_width > most || dst_height > most || (unsigned)filter > ZN_RESIZE_LANCZOS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "Cannot resize %u x %u pixels to %u x %u.",
                       width, height, dst_width, dst_height);
    if (width != dst_width && height != dst_height)
        return both_passes(src, width, height, stride, filter, dst, dst_width, dst_height,
                           dst_stride, err);
    if (width != dst_width)
        return pass_across(src, width, height, stride, filter, dst, dst_width, dst_stride, err);
    if (height != dst_height)
        return pass_down(src, height, stride, filter, dst, width, dst_height, dst_stride, err);
    for (uint32_t y = 0; y < height; y++)
        memcpy(dst + y * dst_stride, src + y * stride, 3 * (size_t)width);
    return ZENITH_OK;
}
