// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// SSIM (Wang et al. 2004) and MS-SSIM (Wang et al. 2003) of luma: a Gaussian of 11 taps, sigma 1.5,
// only where it lies wholly inside the picture.
//
// The five local means (a, b, a^2, b^2, a b) of a row are made from 11 rows that were filtered
// across before; a ring of 11 such rows is all that is held.
#include "src/base/memory.h"
#include "src/task/quality/metrics.h"

#include <math.h>

enum { TAPS = 11, MEANS = 5, SCALES = 5 };
static const double c1 = 0.01 * 0.01, c2 = 0.03 * 0.03;

static void make_window(double window[TAPS])
{
    double sum = 0;
    for (int i = 0; i < TAPS; i++) {
        double x = i - TAPS / 2;
        window[i] = exp(-x * x / (2 * 1.5 * 1.5));
        sum += window[i];
    }
    for (int i = 0; i < TAPS; i++) window[i] /= sum;
}

// One row of both pictures to MEANS rows of `count` means across.
static void filter_across(const double *a, const double *b, int64_t count,
                          const double window[TAPS], double *dst)
{
    for (int64_t x = 0; x < count; x++) {
        double means[MEANS] = {0};
        for (int i = 0; i < TAPS; i++) {
            const double p = a[x + i], q = b[x + i], w = window[i];
            means[0] += w * p;
            means[1] += w * q;
            means[2] += w * (p * p);
            means[3] += w * (q * q);
            means[4] += w * (p * q);
        }
        for (int m = 0; m < MEANS; m++) dst[m * count + x] = means[m];
    }
}

typedef struct similarity {
    double whole, contrast; // means of luminance * contrast, and of contrast (with structure) alone
} similarity;

static void add_pixel(const double m[MEANS], similarity *sum)
{
    const double aa = m[0] * m[0], bb = m[1] * m[1], ab = m[0] * m[1];
    const double luminance = (2 * ab + c1) / (aa + bb + c1);
    const double contrast = (2 * (m[4] - ab) + c2) / ((m[2] - aa) + (m[3] - bb) + c2);
    sum->whole += luminance * contrast;
    sum->contrast += contrast;
}

static void add_row(const double *const rows[TAPS], int64_t count, const double window[TAPS],
                    similarity *sum)
{
    for (int64_t x = 0; x < count; x++) {
        double means[MEANS] = {0};
        for (int i = 0; i < TAPS; i++) {
            for (int m = 0; m < MEANS; m++) means[m] += window[i] * rows[i][m * count + x];
        }
        add_pixel(means, sum);
    }
}

// NaN where the window does not fit.
static zenith_status compare(const zn_plane *a, const zn_plane *b, similarity *out, zn_error *err)
{
    const int64_t width = a->width - TAPS + 1, height = a->height - TAPS + 1;
    *out = (similarity){(double)NAN, (double)NAN};
    if (width < 1 || height < 1) return ZENITH_OK;
    const size_t row = (size_t)width * MEANS;
    double window[TAPS], *ring = zn_alloc(row * TAPS * sizeof *ring);
    if (!ring) return zn_fail_memory(err, row * TAPS * sizeof *ring);
    make_window(window);
    similarity sum = {0, 0};
    for (int64_t y = 0; y < a->height; y++) {
        filter_across(a->data + y * a->width, b->data + y * b->width, width, window,
                      ring + (size_t)(y % TAPS) * row);
        if (y < TAPS - 1) continue;
        const double *rows[TAPS];
        for (int i = 0; i < TAPS; i++) rows[i] = ring + (size_t)((y + 1 + i) % TAPS) * row;
        add_row(rows, width, window, &sum);
    }
    zn_free(ring);
    const double count = (double)width * (double)height;
    *out = (similarity){sum.whole / count, sum.contrast / count};
    return ZENITH_OK;
}

zenith_status zn_metric_ssim(const zn_plane *a, const zn_plane *b, double *out, zn_error *err)
{
    similarity found;
    ZN_TRY(compare(a, b, &found, err));
    *out = found.whole;
    return ZENITH_OK;
}

zenith_status zn_metric_ms_ssim(const zn_plane *a, const zn_plane *b, double *out, zn_error *err)
{
    static const double weights[SCALES] = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
    zn_plane scaled[2] = {{0}, {0}};
    zenith_status status = ZENITH_OK;
    double product = 1;
    for (int scale = 0; scale < SCALES; scale++) {
        similarity found;
        ZN_GO(compare(scale ? &scaled[0] : a, scale ? &scaled[1] : b, &found, err));
        const double part = scale == SCALES - 1 ? found.whole : found.contrast;
        product *= pow(part > 0 ? part : part == part ? 0 : (double)NAN, weights[scale]);
        for (int i = 0; i < 2 && scale < SCALES - 1; i++) {
            zn_plane half = {0};
            ZN_GO(zn_plane_halve(scale ? &scaled[i] : i ? b : a, &half, err));
            zn_plane_free(&scaled[i]);
            scaled[i] = half;
        }
    }
    *out = product;
fail:
    zn_plane_free(&scaled[0]);
    zn_plane_free(&scaled[1]);
    return status;
}
