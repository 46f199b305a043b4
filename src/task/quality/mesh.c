// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Does a picture have a mesh of 4 x 4 pixels, as heads that write pixels from channels leave it?
// The power spectrum of luma, summed over its 64 x 64 tiles, is looked at where a pattern of period
// 4 has its frequencies: bins (u, v) of multiples of 16, where u or v is 16 or 48. The measure is
// the mean, over these twelve, of a bin's power over the mean power of the eight around it.
#include "src/base/memory.h"
#include "src/task/quality/metrics.h"

#include <math.h>

enum { SIDE = 64, BITS = 6, STEP = SIDE / 4 };

typedef struct number {
    double re, im;
} number;

typedef struct spectrum {
    number tile[SIDE][SIDE];
    number roots[SIDE / 2]; // exp(-2 pi i k / SIDE)
    double power[SIDE][SIDE];
} spectrum;

static void make_roots(number roots[SIDE / 2])
{
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < SIDE / 2; k++) {
        roots[k] = (number){cos(2 * pi * k / SIDE), -sin(2 * pi * k / SIDE)};
    }
}

static int reversed(int index)
{
    int result = 0;
    for (int bit = 0; bit < BITS; bit++) result |= (index >> bit & 1) << (BITS - 1 - bit);
    return result;
}

// Fourier transform of SIDE numbers, `stride` apart, in place: radix 2, decimation in time.
static void transform(number *x, int stride, const number roots[SIDE / 2])
{
    for (int i = 0; i < SIDE; i++) {
        const int j = reversed(i);
        if (j <= i) continue;
        const number kept = x[i * stride];
        x[i * stride] = x[j * stride];
        x[j * stride] = kept;
    }
    for (int half = 1; half < SIDE; half *= 2) {
        for (int begin = 0; begin < SIDE; begin += 2 * half) {
            for (int k = 0; k < half; k++) {
                const number w = roots[k * (SIDE / 2 / half)];
                number *low = &x[(begin + k) * stride], *high = &x[(begin + k + half) * stride];
                const number t = {w.re * high->re - w.im * high->im,
                                  w.re * high->im + w.im * high->re};
                *high = (number){low->re - t.re, low->im - t.im};
                *low = (number){low->re + t.re, low->im + t.im};
            }
        }
    }
}

static void add_tile(spectrum *s, const zn_plane *plane, int64_t left, int64_t top)
{
    for (int y = 0; y < SIDE; y++) {
        const double *row = plane->data + (top + y) * plane->width + left;
        for (int x = 0; x < SIDE; x++) s->tile[y][x] = (number){row[x], 0};
        transform(s->tile[y], 1, s->roots);
    }
    for (int x = 0; x < SIDE; x++) transform(&s->tile[0][x], SIDE, s->roots);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const number t = s->tile[y][x];
            s->power[y][x] += t.re * t.re + t.im * t.im;
        }
    }
}

static double above_neighbours(const spectrum *s, int u, int v)
{
    double around = 0;
    for (int i = -1; i <= 1; i++) {
        for (int j = -1; j <= 1; j++) {
            if (i || j) around += s->power[(u + i + SIDE) % SIDE][(v + j + SIDE) % SIDE];
        }
    }
    return s->power[u][v] / (around / 8);
}

zenith_status zn_metric_mesh4(const zn_plane *plane, double *out, zn_error *err)
{
    *out = (double)NAN;
    if (plane->width < SIDE || plane->height < SIDE) return ZENITH_OK;
    spectrum *s = zn_alloc_zero(sizeof *s);
    if (!s) return zn_fail_memory(err, sizeof *s);
    make_roots(s->roots);
    for (int64_t y = 0; y + SIDE <= plane->height; y += SIDE) {
        for (int64_t x = 0; x + SIDE <= plane->width; x += SIDE) add_tile(s, plane, x, y);
    }
    double sum = 0;
    int count = 0;
    for (int u = 0; u < SIDE; u += STEP) {
        for (int v = 0; v < SIDE; v += STEP) {
            if (u % (2 * STEP) == 0 && v % (2 * STEP) == 0) continue; // period 2, or the mean
            sum += above_neighbours(s, u, v);
            count++;
        }
    }
    *out = sum / count;
    zn_free(s);
    return ZENITH_OK;
}
