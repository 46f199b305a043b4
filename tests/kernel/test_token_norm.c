// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// token_norm: every version within the bound of token_norm.h of the specification, with widths
// around those of vectors, with and without a mean, gain and bias, and with a mean far larger than
// the deviation; the same bits in place and row by row.
#include "src/kernel/norm/token_norm.h"
#include "tests/kernel/fenced.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { ROWS = 3, MOST = 1000 };

static const size_t widths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 128, MOST};

typedef struct subject {
    zn_token_norm norm;
    fenced x, dst, gain, bias;
} subject;

// Bits of `kind`: centred, with a gain, with a bias, and a mean of 1000.
static subject make(size_t width, int kind, zn_random *random)
{
    const size_t gap = width % 3 * sizeof(float), all = ROWS * width;
    subject s = {.x = fenced_make(all * sizeof(float), gap),
                 .dst = fenced_make(all * sizeof(float), gap),
                 .gain = fenced_make(width * sizeof(float), gap),
                 .bias = fenced_make(width * sizeof(float), gap)};
    fill_normal(s.x.data, all, random);
    fill_normal(s.gain.data, width, random);
    fill_normal(s.bias.data, width, random);
    for (size_t i = 0; i < all && kind >> 3; i++) ((float *)s.x.data)[i] += 1000;
    s.norm = (zn_token_norm){.width = width,
                             .centred = kind & 1,
                             .epsilon = 1e-6f,
                             .gain = kind >> 1 & 1 ? s.gain.data : NULL,
                             .bias = kind >> 2 & 1 ? s.bias.data : NULL};
    return s;
}

static void check_values(const subject *s, const kernel_set *set)
{
    const size_t width = s->norm.width;
    float want[ROWS * MOST];
    const float *x = s->x.data, *got = s->dst.data;
    zn_token_norm_reference(&s->norm, x, ROWS, want);
    for (size_t i = 0; i < ROWS * width; i++) {
        const zn_token_stats stats = zn_token_norm_stats(&s->norm, x + i / width * width);
        const float gain = s->norm.gain ? s->norm.gain[i % width] : 1;
        const float bias = s->norm.bias ? s->norm.bias[i % width] : 0;
        const double size = fabs(((double)x[i] - stats.mean) * stats.rstd * (double)gain) +
                            fabs((double)bias);
        if (fabs((double)got[i] - (double)want[i]) <= 3 * ldexp(size, -23)) continue;
        fail_msg("%s, %zu channels, centred %d: element %zu is %.9g, not %.9g", set->name, width,
                 s->norm.centred, i, (double)got[i], (double)want[i]);
    }
}

static void check_bits(const subject *s, zn_token_norm_fn *run)
{
    const size_t width = s->norm.width;
    float *x = s->x.data;
    for (size_t r = 0; r < ROWS; r++) run(&s->norm, x + r * width, 1, x + r * width);
    assert_memory_equal(x, s->dst.data, ROWS * width * sizeof(float));
}

ZN_TEST(versions_are_within_the_bound)
{
    zn_random random = {.seed = 4};
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < 16 * COUNT(widths); i++) {
            subject s = make(widths[i / 16], (int)(i % 16), &random);
            zn_token_norm_fn *run = set->kernels.token_norm;
            run(&s.norm, s.x.data, ROWS, s.dst.data);
            check_values(&s, set);
            check_bits(&s, run);
            fenced_close((fenced *[]){&s.x, &s.dst, &s.gain, &s.bias}, 4);
        }
    }
}

// --- the gradient -------------------------------------------------------------------------------

static void check_gradient(const subject *s, const float *dy, const float *got,
                           const kernel_set *set)
{
    const size_t width = s->norm.width;
    float want[ROWS * MOST];
    const float *x = s->x.data;
    zn_token_norm_gradient_reference(&s->norm, dy, x, ROWS, want);
    for (size_t r = 0; r < ROWS; r++, x += width, dy += width, got += width) {
        const zn_token_stats stats = zn_token_norm_stats(&s->norm, x);
        double sum = 0, product = 0;
        for (size_t i = 0; i < width; i++) {
            const double g = (double)dy[i] * (s->norm.gain ? (double)s->norm.gain[i] : 1);
            sum += fabs(g);
            product += fabs(g * ((double)x[i] - stats.mean) * stats.rstd);
        }
        if (!s->norm.centred) sum = 0;
        for (size_t i = 0; i < width; i++) {
            const double g = (double)dy[i] * (s->norm.gain ? (double)s->norm.gain[i] : 1);
            const double z = ((double)x[i] - stats.mean) * stats.rstd, n = (double)width;
            const double size = stats.rstd * (fabs(g) + sum / n + fabs(z) * product / n);
            if (fabs((double)got[i] - (double)want[r * width + i]) <= 4 * ldexp(size, -23))
                continue;
            fail_msg("%s, %zu channels, centred %d: slope %zu is %.9g, not %.9g", set->name, width,
                     s->norm.centred, i, (double)got[i], (double)want[r * width + i]);
        }
    }
}

ZN_TEST(gradients_are_within_the_bound)
{
    zn_random random = {.seed = 5};
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < 16 * COUNT(widths); i++) {
            subject s = make(widths[i / 16], (int)(i % 16), &random);
            const size_t width = s.norm.width, all = ROWS * width;
            fenced dy = fenced_make(all * sizeof(float), 0);
            fill_normal(dy.data, all, &random);
            zn_token_norm_gradient_fn *run = set->kernels.token_norm_gradient;
            run(&s.norm, dy.data, s.x.data, ROWS, s.dst.data);
            check_gradient(&s, dy.data, s.dst.data, set);
            for (size_t r = 0; r < ROWS; r++) { // row by row and in place
                float *row = (float *)dy.data + r * width;
                run(&s.norm, row, (const float *)s.x.data + r * width, 1, row);
            }
            assert_memory_equal(dy.data, s.dst.data, all * sizeof(float));
            fenced_close((fenced *[]){&s.x, &s.dst, &s.gain, &s.bias, &dy}, 5);
        }
    }
}

// Not even a row of one number that is not finite may change its neighbours.
ZN_TEST(nan_stays_in_its_row)
{
    FOR_EACH_SET(set)
    {
        float x[3 * 40], dst[3 * 40];
        for (int i = 0; i < 3 * 40; i++) x[i] = (float)(i % 7);
        x[40 + 17] = NAN;
        const zn_token_norm norm = {.width = 40, .centred = true, .epsilon = 1e-5f};
        set->kernels.token_norm(&norm, x, 3, dst);
        for (int i = 0; i < 3 * 40; i++) assert_int_equal(!!isnan(dst[i]), i / 40 == 1);
    }
}

static void bench(void)
{
    enum { WIDTH = 3840, WIDE = 2, N = WIDTH * WIDE };
    static float x[N], dst[N], gain[WIDTH];
    zn_random random = {.seed = 1};
    fill_normal(x, N, &random);
    fill_normal(gain, WIDTH, &random);
    FOR_EACH_SET(set)
    {
        for (int i = 0; i < 4; i++) {
            const size_t width = i / 2 ? WIDTH : 128;
            const zn_token_norm norm = {
                .width = width, .centred = i % 2, .epsilon = 1e-6f, .gain = gain};
            bench_clock clock = {0};
            while (bench_again(&clock)) set->kernels.token_norm(&norm, x, N / width, dst);
            bench_result(&clock, set->name, N, "elements/ns", "%s, %d channels",
                         i % 2 ? "layer norm" : "rms norm", (int)width);
        }
    }
}

KERNEL_GROUP(token_norm, bench)
