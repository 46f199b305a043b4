// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Separable resampling in fixed point. An output sample i of an axis is the sum of the inputs
// within support * scale of its centre (i + 0.5) * scale, weighted by the filter; weights sum to 1
// and are rounded to 22 bits after the point. First all rows are resampled across into a middle
// picture of 8 bits, then its columns down; a pass that would change nothing is left out, and so
// are the rows and columns that only what is cut off would need. The order of passes, the 8 bits
// between them and every rounding are those of Pillow (Resample.c): the goldens in tests/format
// compare bits.
//
//   src [height][width] --across--> middle [rows][cut_width] --down--> [cut_height][cut_width]
#include "src/format/image/resize.h"

#include "src/base/cpu.h"
#include "src/base/memory.h"
#include "src/kernel/kernels.h"

#include <math.h>
#include <string.h>

typedef struct taps {
    uint32_t size;       // pixels that an output can take
    uint32_t copies;     // of each weight: 1, or ZN_RESAMPLE_STEP for the pass across
    size_t pitch;        // weights of an output with their copies, in full steps
    uint32_t begin, end; // pixels that any output takes
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

// The outputs of one axis that are wanted.
typedef struct axis {
    uint32_t in, out;      // pixels of the source and of the whole result
    uint32_t from, wanted; // of the result
} axis;

// Weights of output from + i, by way of `exact` (size doubles).
static void fill_taps(taps *t, const axis *a, uint32_t i, zn_resize_filter filter, double *exact)
{
    double scale = (double)a->in / a->out, stretch = scale < 1 ? 1 : scale;
    double support = filters[filter].support * stretch;
    double centre = (a->from + i + 0.5) * scale, inverse = 1 / stretch, sum = 0;
    int64_t low = (int64_t)(centre - support + 0.5), high = (int64_t)(centre + support + 0.5);
    uint32_t first = low < 0 ? 0 : (uint32_t)low;
    uint32_t count = (high > a->in ? a->in : (uint32_t)high) - first;
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

static zenith_status taps_make(taps *t, const axis *a, zn_resize_filter filter, uint32_t copies,
                               zn_error *err)
{
    double scale = (double)a->in / a->out;
    t->size = (uint32_t)ceil(filters[filter].support * (scale < 1 ? 1 : scale)) * 2 + 1;
    t->copies = copies;
    t->pitch = zn_round_up(t->size, ZN_RESAMPLE_STEP) * copies;
    size_t weights;
    if (!zn_mul_size(t->pitch * sizeof *t->weights, a->wanted, &weights))
        return zn_fail_memory(err, SIZE_MAX);
    t->first = zn_alloc(a->wanted * sizeof *t->first);
    t->count = zn_alloc(a->wanted * sizeof *t->count);
    t->weights = zn_alloc_zero(weights);
    double *exact = zn_alloc(t->size * sizeof *exact);
    bool good = t->first && t->count && t->weights && exact;
    for (uint32_t i = 0; good && i < a->wanted; i++) fill_taps(t, a, i, filter, exact);
    if (good) t->begin = t->first[0];
    if (good) t->end = t->first[a->wanted - 1] + t->count[a->wanted - 1];
    zn_free(exact);
    return good ? ZENITH_OK : zn_fail_memory(err, weights);
}

// --- passes

// A picture of three bytes a pixel.
typedef struct plane {
    uint8_t *data;
    size_t stride;
} plane;

// Pixels begin to end, of three bytes, to those of four; the fourth is the next pixel's first, or
// what was there.
static void widen_row(const uint8_t *src, uint32_t begin, uint32_t end, uint8_t *dst)
{
    for (size_t x = begin; x + 1 < end; x++) memcpy(dst + 4 * x, src + 3 * x, 4);
    memcpy(dst + 4 * (size_t)(end - 1), src + 3 * (size_t)(end - 1), 3);
}

static zn_kernels own_kernels(void)
{
    zn_kernels kernels;
    zn_kernels_init(&kernels, zn_cpu_detect().flags);
    return kernels;
}

static zenith_status pass_across(const axis *a, zn_resize_filter filter, const uint8_t *src,
                                 size_t stride, uint32_t rows, plane dst, zn_error *err)
{
    taps t = {0};
    const zn_kernels kernels = own_kernels();
    // The last step may end beyond the row.
    const size_t bytes = 4 * ((size_t)a->in + ZN_RESAMPLE_STEP);
    uint8_t *row = zn_alloc_zero(bytes);
    zenith_status status = row ? ZENITH_OK : zn_fail_memory(err, bytes);
    if (status == ZENITH_OK) status = taps_make(&t, a, filter, ZN_RESAMPLE_STEP, err);
    const zn_resample_taps all = {t.first, t.count, t.weights, t.pitch};
    for (uint32_t y = 0; status == ZENITH_OK && y < rows; y++) {
        widen_row(src + y * stride, t.begin, t.end, row);
        kernels.resample_across(&all, row, dst.data + y * dst.stride, a->wanted);
    }
    taps_free(&t);
    zn_free(row);
    return status;
}

// src begins with the first row that the taps take.
static void pass_down(const taps *t, const axis *a, const uint8_t *src, size_t stride, plane dst,
                      uint32_t width)
{
    const zn_kernels kernels = own_kernels();
    for (uint32_t y = 0; y < a->wanted; y++)
        kernels.resample_down(t->weights + y * t->pitch, t->count[y],
                              src + (t->first[y] - t->begin) * stride, stride,
                              dst.data + y * dst.stride, 3 * (size_t)width);
}

// Across into a middle picture of the rows that the second pass takes, then down.
static zenith_status across_and_down(const axis *across, const axis *down, zn_resize_filter filter,
                                     const uint8_t *src, size_t stride, plane dst, zn_error *err)
{
    taps t = {0};
    uint8_t *middle = NULL;
    size_t row = 3 * (size_t)across->wanted, bytes = SIZE_MAX;
    zenith_status status = taps_make(&t, down, filter, 1, err);
    if (status == ZENITH_OK && zn_mul_size(row, t.end - t.begin, &bytes)) middle = zn_alloc(bytes);
    if (status == ZENITH_OK && !middle) status = zn_fail_memory(err, bytes);
    if (status == ZENITH_OK)
        status = pass_across(across, filter, src + t.begin * stride, stride, t.end - t.begin,
                             (plane){middle, row}, err);
    if (status == ZENITH_OK) pass_down(&t, down, middle, row, dst, across->wanted);
    zn_free(middle);
    taps_free(&t);
    return status;
}

static zenith_status down_alone(const axis *down, zn_resize_filter filter, const uint8_t *src,
                                size_t stride, plane dst, uint32_t width, zn_error *err)
{
    taps t = {0};
    zenith_status status = taps_make(&t, down, filter, 1, err);
    if (status == ZENITH_OK) pass_down(&t, down, src + t.begin * stride, stride, dst, width);
    taps_free(&t);
    return status;
}

static bool is_good(const axis *a)
{
    const uint32_t most = 1 << 24; // keeps every sum of sizes here far from its type's end
    return a->in && a->in <= most && a->out && a->out <= most && a->wanted && a->from <= a->out &&
           a->wanted <= a->out - a->from;
}

zenith_status zn_resize_rgb(const zn_resize *how, const uint8_t *src, uint8_t *dst,
                            size_t dst_stride, zn_error *err)
{
    const axis across = {how->width, how->to_width, how->left, how->cut_width};
    const axis down = {how->height, how->to_height, how->top, how->cut_height};
    const plane out = {dst, dst_stride};
    if (!is_good(&across) || !is_good(&down) || (unsigned)how->filter > ZN_RESIZE_LANCZOS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "Cannot resize %u x %u pixels to %u x %u.",
                       how->width, how->height, how->to_width, how->to_height);
    const bool same_width = across.in == across.out, same_height = down.in == down.out;
    if (!same_width && !same_height)
        return across_and_down(&across, &down, how->filter, src, how->stride, out, err);
    if (!same_width)
        return pass_across(&across, how->filter, src + down.from * how->stride, how->stride,
                           down.wanted, out, err);
    src += 3 * (size_t)across.from;
    if (!same_height)
        return down_alone(&down, how->filter, src, how->stride, out, across.wanted, err);
    for (size_t y = 0; y < down.wanted; y++)
        memcpy(dst + y * dst_stride, src + (down.from + y) * how->stride,
               3 * (size_t)across.wanted);
    return ZENITH_OK;
}
