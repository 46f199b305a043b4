// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// modulate: every version within the bound of modulate.h of the specification, with channels around
// the width of vectors and with each kind of term; the same bits in place and pixel by pixel.
#include "src/kernel/pointwise/modulate.h"
#include "tests/kernel/fenced.h"

#include <math.h>

enum { PIXELS = 3 };

static const size_t channels_of[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100};

typedef struct subject {
    zn_modulation how;
    fenced x, dst, scale, shift, residual;
} subject;

static fenced floats(size_t n, size_t gap, zn_random *random)
{
    fenced f = fenced_make(n * sizeof(float), gap * sizeof(float));
    fill_normal(f.data, n, random);
    return f;
}

static subject make(size_t channels, int kind, zn_random *random)
{
    const size_t gap = channels % 3;
    subject s = {.x = floats(PIXELS * channels, gap, random),
                 .dst = floats(PIXELS * channels, gap, random),
                 .scale = floats(channels, gap, random),
                 .shift = floats(channels, gap, random),
                 .residual = floats(PIXELS * channels, gap, random)};
    s.how = (zn_modulation){.channels = channels,
                            .one = (float)(kind & 1),
                            .scale = s.scale.data,
                            .shift = kind >> 1 == 1 ? s.shift.data : NULL,
                            .residual = kind >> 1 == 2 ? s.residual.data : NULL};
    return s;
}

static void check_values(const subject *s, const kernel_set *set)
{
    const size_t channels = s->how.channels;
    const float *x = s->x.data, *got = s->dst.data;
    float want[PIXELS * 100];
    zn_modulate_reference(&s->how, x, PIXELS, want);
    for (size_t i = 0; i < PIXELS * channels; i++) {
        const size_t c = i % channels;
        const float term = s->how.shift      ? s->how.shift[c]
                           : s->how.residual ? s->how.residual[i]
                                             : 0;
        const float size = fabsf(x[i] * s->how.one) + fabsf(x[i] * s->how.scale[c]) + fabsf(term);
        if (fabs((double)got[i] - (double)want[i]) <= ldexp((double)size, -22)) continue;
        fail_msg("%s, %zu channels: element %zu is %.9g, not %.9g", set->name, channels, i,
                 (double)got[i], (double)want[i]);
    }
}

static void check_bits(const subject *s, zn_modulate_fn *run)
{
    const size_t channels = s->how.channels;
    float *x = s->x.data;
    for (size_t p = 0; p < PIXELS; p++) { // each by itself, in place
        zn_modulation how = s->how;
        if (how.residual) how.residual += p * channels;
        run(&how, x + p * channels, 1, x + p * channels);
    }
    assert_memory_equal(x, s->dst.data, PIXELS * channels * sizeof(float));
}

ZN_TEST(versions_are_within_the_bound)
{
    zn_random random = {.seed = 3};
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < 6 * sizeof channels_of / sizeof *channels_of; i++) {
            subject s = make(channels_of[i / 6], (int)(i % 6), &random);
            zn_modulate_fn *run = set->kernels.modulate;
            run(&s.how, s.x.data, PIXELS, s.dst.data);
            check_values(&s, set);
            check_bits(&s, run);
            fenced_close((fenced *[]){&s.x, &s.dst, &s.scale, &s.shift, &s.residual}, 5);
        }
    }
}

static void bench(void)
{
    enum { CHANNELS = 512, WIDE = 8, N = CHANNELS * WIDE };
    static float x[N], dst[N], scale[CHANNELS], shift[CHANNELS];
    const zn_modulation how = {.channels = CHANNELS, .one = 1, .scale = scale, .shift = shift};
    bench_clock plain = {0};
    while (bench_again(&plain)) zn_modulate_reference(&how, x, WIDE, dst);
    bench_result(&plain, "scalar", N, "elements/ns", "%d channels", CHANNELS);
    FOR_EACH_SET(set)
    {
        bench_clock clock = {0};
        while (bench_again(&clock)) set->kernels.modulate(&how, x, WIDE, dst);
        bench_result(&clock, set->name, N, "elements/ns", "%d channels", CHANNELS);
    }
}

KERNEL_GROUP(modulate, bench)
