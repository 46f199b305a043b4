// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// resample: every version gives the bits of the specification, with counts of taps around full
// steps and widths around full blocks, and reads and writes nothing else.
#include "src/kernel/pointwise/resample.h"
#include "tests/kernel/fenced.h"

enum { RESULTS = 37, MOST_TAPS = 41, PITCH = 44 * ZN_RESAMPLE_STEP, ROWS = 9 };

// Weights that sum to about 1, some below 0, so that results end at 0 and 255. The largest sum
// stays below 2, beyond which there is no bit for it: filters stay below 1.5.
static int32_t draw_weight(zn_random *random, uint32_t count)
{
    const int32_t thousandths = (int32_t)zn_random_below(random, 2200) - 300;
    return thousandths * ((1 << ZN_RESAMPLE_POINT) / 1000) / (int32_t)count;
}

static void fill_samples(uint8_t *dst, size_t count, zn_random *random)
{
    for (size_t i = 0; i < count; i++) // white and black are as frequent as all others
        dst[i] = (uint8_t)(i % 3 ? zn_random_below(random, 256) : 255 * zn_random_below(random, 2));
}

typedef struct row_taps {
    uint32_t first[RESULTS], count[RESULTS], end; // end: pixels that are read
    int32_t weights[RESULTS * PITCH];
    zn_resample_taps all;
} row_taps;

static void make_taps(row_taps *t, uint32_t most, zn_random *random)
{
    memset(t, 0, sizeof *t);
    for (uint32_t x = 0; x < RESULTS; x++) {
        t->first[x] = 2 * x;
        t->count[x] = 1 + zn_random_below(random, most);
        int32_t *to = t->weights + (size_t)x * PITCH;
        for (uint32_t k = 0; k < t->count[x]; k++) {
            const int32_t weight = draw_weight(random, t->count[x]);
            for (int copy = 0; copy < ZN_RESAMPLE_STEP; copy++) *to++ = weight;
        }
        const uint32_t steps = (t->count[x] + ZN_RESAMPLE_STEP - 1) / ZN_RESAMPLE_STEP;
        const uint32_t end = t->first[x] + ZN_RESAMPLE_STEP * steps;
        t->end = t->end > end ? t->end : end;
    }
    t->all = (zn_resample_taps){t->first, t->count, t->weights, PITCH};
}

ZN_TEST(rows_are_equal)
{
    static row_taps t;
    zn_random random = {.seed = 7};
    FOR_EACH_SET(set)
    {
        for (uint32_t most = 1; most <= MOST_TAPS; most++) {
            make_taps(&t, most, &random);
            fenced src = fenced_make(4 * (size_t)t.end, 0),
                   dst = fenced_make(3 * RESULTS, most % 4);
            uint8_t want[3 * RESULTS];
            fill_samples(src.data, 4 * (size_t)t.end, &random);
            zn_resample_across_reference(&t.all, src.data, want, RESULTS);
            set->kernels.resample_across(&t.all, src.data, dst.data, RESULTS);
            assert_memory_equal(dst.data, want, sizeof want);
            fenced_close((fenced *[]){&src, &dst}, 2);
        }
    }
}

ZN_TEST(columns_are_equal)
{
    static const size_t widths[] = {1, 3, 15, 31, 63, 64, 65, 96, 127, 128, 129, 300};
    zn_random random = {.seed = 8};
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < sizeof widths / sizeof *widths * ROWS; i++) {
            const size_t samples = widths[i / ROWS], count = 1 + i % ROWS, stride = samples + 5;
            const size_t all = (count - 1) * stride + samples;
            fenced src = fenced_make(all, 0), dst = fenced_make(samples, i % 4);
            int32_t weights[ROWS];
            uint8_t want[300];
            for (size_t k = 0; k < count; k++) weights[k] = draw_weight(&random, (uint32_t)count);
            fill_samples(src.data, all, &random);
            zn_resample_down_reference(weights, count, src.data, stride, want, samples);
            set->kernels.resample_down(weights, count, src.data, stride, dst.data, samples);
            assert_memory_equal(dst.data, want, samples);
            fenced_close((fenced *[]){&src, &dst}, 2);
        }
    }
}

static void bench(void)
{
    enum { TAPS = 19, WIDTH = 256 }; // a photograph of 768 pixels to 256, by Lanczos
    static uint8_t src[4 * (3 * WIDTH + TAPS)], dst[3 * WIDTH];
    static uint32_t first[WIDTH], count[WIDTH];
    static int32_t weights[WIDTH * 80];
    for (uint32_t x = 0; x < WIDTH; x++) first[x] = 3 * x, count[x] = TAPS;
    const zn_resample_taps taps = {first, count, weights, 80};
    FOR_EACH_SET(set)
    {
        bench_clock across = {0}, down = {0};
        while (bench_again(&across)) set->kernels.resample_across(&taps, src, dst, WIDTH);
        bench_result(&across, set->name, WIDTH * TAPS, "pixels/ns", "across, %d taps", TAPS);
        while (bench_again(&down))
            set->kernels.resample_down(weights, TAPS, src, 64, dst, 3 * WIDTH);
        bench_result(&down, set->name, WIDTH * TAPS, "pixels/ns", "down, %d taps", TAPS);
    }
}

KERNEL_GROUP(resample, bench)
