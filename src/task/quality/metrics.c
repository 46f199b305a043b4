// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// PSNR, gradient magnitude similarity deviation (Xue et al., arXiv 1308.3052), and the finest band
// of a Laplacian pyramid. structural_similarity.c and mesh.c have the others.
#include "src/task/quality/metrics.h"

#include "src/base/memory.h"

#include <math.h>

// --- planes -------------------------------------------------------------------------------------

zenith_status zn_plane_create(int64_t width, int64_t height, zn_plane *out, zn_error *err)
{
    size_t count, bytes;
    if (!zn_mul_size((size_t)width, (size_t)height, &count) ||
        !zn_mul_size(count, sizeof(double), &bytes)) {
        return zn_fail(err, ZENITH_LIMIT, "a picture of %lld x %lld is too large to be compared",
                       (long long)width, (long long)height);
    }
    double *data = zn_alloc(bytes);
    if (!data) return zn_fail_memory(err, bytes);
    *out = (zn_plane){data, width, height};
    return ZENITH_OK;
}

void zn_plane_free(zn_plane *plane)
{
    zn_free(plane->data);
    plane->data = NULL;
}

zenith_status zn_plane_luma(const uint8_t *rgb, int64_t width, int64_t height, zn_plane *out,
                            zn_error *err)
{
    ZN_TRY(zn_plane_create(width, height, out, err));
    for (int64_t i = 0; i < width * height; i++, rgb += 3) {
        out->data[i] = (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]) / 255;
    }
    return ZENITH_OK;
}

zenith_status zn_plane_halve(const zn_plane *src, zn_plane *out, zn_error *err)
{
    ZN_TRY(zn_plane_create(src->width / 2, src->height / 2, out, err));
    for (int64_t y = 0; y < out->height; y++) {
        const double *top = src->data + 2 * y * src->width, *bottom = top + src->width;
        double *dst = out->data + y * out->width;
        for (int64_t x = 0; x < out->width; x++) {
            dst[x] = (top[2 * x] + top[2 * x + 1] + bottom[2 * x] + bottom[2 * x + 1]) / 4;
        }
    }
    return ZENITH_OK;
}

// --- psnr ---------------------------------------------------------------------------------------

double zn_metric_psnr(const uint8_t *a, const uint8_t *b, int64_t width, int64_t height)
{
    uint64_t squares = 0;
    const int64_t samples = width * height * 3;
    for (int64_t i = 0; i < samples; i++) {
        int difference = (int)a[i] - (int)b[i];
        squares += (uint64_t)(difference * difference);
    }
    return 10 * log10(255.0 * 255.0 * (double)samples / (double)squares);
}

// --- gmsd ---------------------------------------------------------------------------------------

// A pixel, or 0 outside.
static double at(const zn_plane *p, int64_t x, int64_t y)
{
    return x < 0 || y < 0 || x >= p->width || y >= p->height ? 0 : p->data[y * p->width + x];
}

// Prewitt's operator, each sum of three divided by 3.
static double gradient(const zn_plane *p, int64_t x, int64_t y)
{
    double across = 0, down = 0;
    for (int64_t i = -1; i <= 1; i++) {
        across += at(p, x - 1, y + i) - at(p, x + 1, y + i);
        down += at(p, x + i, y - 1) - at(p, x + i, y + 1);
    }
    return sqrt(across * across + down * down) / 3;
}

static double deviation(const zn_plane *a, const zn_plane *b)
{
    static const double small = 170.0 / (255.0 * 255.0);
    double sum = 0, squares = 0;
    const double count = (double)a->width * (double)a->height;
    for (int64_t y = 0; y < a->height; y++) {
        for (int64_t x = 0; x < a->width; x++) {
            const double p = gradient(a, x, y), q = gradient(b, x, y);
            const double likeness = (2 * p * q + small) / (p * p + q * q + small);
            sum += 1 - likeness; // small numbers: their squares lose nothing
            squares += (1 - likeness) * (1 - likeness);
        }
    }
    const double variance = squares / count - sum / count * (sum / count);
    return sqrt(variance > 0 ? variance : 0);
}

zenith_status zn_metric_gmsd(const zn_plane *a, const zn_plane *b, double *out, zn_error *err)
{
    zn_plane halves[2] = {{0}, {0}};
    zenith_status status;
    if (a->width < 2 || a->height < 2) {
        *out = (double)NAN;
        return ZENITH_OK;
    }
    ZN_GO(zn_plane_halve(a, &halves[0], err));
    ZN_GO(zn_plane_halve(b, &halves[1], err));
    *out = deviation(&halves[0], &halves[1]);
fail:
    zn_plane_free(&halves[0]);
    zn_plane_free(&halves[1]);
    return status;
}

// --- the finest band ----------------------------------------------------------------------------

// Between the pixels of the halved plane, linearly, edge pixels repeated: pixel 2i lies a quarter
// below i, pixel 2i + 1 a quarter above.
static double enlarged(const zn_plane *half, int64_t x, int64_t y)
{
    int64_t x0 = x / 2, y0 = y / 2;
    int64_t x1 = x0 + (x % 2 ? 1 : -1), y1 = y0 + (y % 2 ? 1 : -1);
    x1 = x1 < 0 ? 0 : x1 >= half->width ? half->width - 1 : x1;
    y1 = y1 < 0 ? 0 : y1 >= half->height ? half->height - 1 : y1;
    const double *near = half->data + y0 * half->width, *far = half->data + y1 * half->width;
    return 0.75 * (0.75 * near[x0] + 0.25 * near[x1]) + 0.25 * (0.75 * far[x0] + 0.25 * far[x1]);
}

typedef struct sums {
    double a, b, aa, bb, ab, count;
} sums;

static void add_band(const zn_plane *planes, const zn_plane *halves, sums *s)
{
    const int64_t width = halves[0].width * 2, height = halves[0].height * 2;
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            const int64_t i = y * planes[0].width + x;
            const double a = planes[0].data[i] - enlarged(&halves[0], x, y);
            const double b = planes[1].data[i] - enlarged(&halves[1], x, y);
            s->a += a;
            s->b += b;
            s->aa += a * a;
            s->bb += b * b;
            s->ab += a * b;
        }
    }
    s->count = (double)width * (double)height;
}

zenith_status zn_metric_hf(const zn_plane *a, const zn_plane *b, double *ratio, double *correlation,
                           zn_error *err)
{
    zn_plane halves[2] = {{0}, {0}};
    const zn_plane planes[2] = {*a, *b};
    sums s = {0};
    zenith_status status;
    if (a->width < 2 || a->height < 2) {
        *ratio = *correlation = (double)NAN;
        return ZENITH_OK;
    }
    ZN_GO(zn_plane_halve(a, &halves[0], err));
    ZN_GO(zn_plane_halve(b, &halves[1], err));
    add_band(planes, halves, &s);
    *ratio = sqrt(s.bb / s.aa);
    *correlation = (s.ab - s.a * s.b / s.count) /
                   sqrt((s.aa - s.a * s.a / s.count) * (s.bb - s.b * s.b / s.count));
fail:
    zn_plane_free(&halves[0]);
    zn_plane_free(&halves[1]);
    return status;
}
