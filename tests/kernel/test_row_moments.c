// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Moments of rows: every version has the bits of the stated tree.
#include "src/kernel/norm/row_moments.h"
#include "tests/kernel/fenced.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { MAX_GROUPS = 64 };

static const zn_type types[] = {ZN_F32, ZN_BF16, ZN_F16, ZN_U8, ZN_S8};
static const struct {
    int64_t width, channels;
    int groups;
} shapes[] = {
    {1, 1, 1},    {2, 3, 1},    {3, 7, 7},     {5, 8, 2},    {7, 9, 3},    {64, 15, 5},
    {9, 16, 16},  {10, 17, 1},  {31, 24, 8},   {6, 31, 31},  {33, 32, 32}, {13, 33, 11},
    {17, 64, 32}, {64, 64, 64}, {11, 320, 32}, {3, 512, 32}, {200, 40, 4}, {0, 8, 2},
};

static void fill(zn_type type, void *dst, size_t n, zn_random *random)
{
    fill_bytes(dst, n * zn_type_size(type), random);
    for (size_t i = 0; i < n; i++) {
        const float value = zn_random_normal(random) * 3.0f + 1.0f;
        if (type == ZN_F32) ((float *)dst)[i] = value;
        if (type == ZN_BF16) ((uint16_t *)dst)[i] = zn_f32_to_bf16(value);
        if (type == ZN_F16) ((uint16_t *)dst)[i] = zn_f32_to_f16(value);
    }
}

// The tree as the header states it, from elements read one at a time.
static void stated(zn_type type, float scale, const void *row, int64_t width, int64_t channels,
                   int groups, double *out)
{
    const int64_t size = channels / groups;
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0, square = 0;
        for (int64_t x = 0; x < width; x++) {
            const float value = zn_type_load(type, row, (size_t)(x * channels + c)) * scale;
            sum += (double)value;
            square += (double)value * (double)value;
        }
        if (c % size == 0) out[c / size * 2] = out[c / size * 2 + 1] = 0;
        out[c / size * 2] += sum;
        out[c / size * 2 + 1] += square;
    }
}

ZN_TEST(versions_follow_the_tree)
{
    uint64_t seed = 1;
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < COUNT(shapes) * COUNT(types) * 8; i++, seed++) {
            const zn_type type = types[i % COUNT(types)];
            const size_t shift = i / COUNT(types) % 8, s = i / COUNT(types) / 8;
            const int64_t width = shapes[s].width, channels = shapes[s].channels;
            const int groups = shapes[s].groups;
            const size_t n = (size_t)(width * channels), bytes = (size_t)groups * 2 * 8;
            const float scale = type == ZN_U8 || type == ZN_S8 ? 0.037f : 1.0f;
            zn_random random = {.seed = seed};
            fenced row = fenced_make(n * zn_type_size(type), shift * zn_type_size(type));
            fenced out = fenced_make(bytes, shift * sizeof(double));
            double expected[MAX_GROUPS * 2];
            fill(type, row.data, n, &random);
            stated(type, scale, row.data, width, channels, groups, expected);
            set->kernels.row_moments(type, scale, row.data, width, channels, groups, out.data);
            if (memcmp(out.data, expected, bytes) || !fenced_intact(&out)) {
                print_error("%s, %s, width %lld, channels %lld, groups %d, shift %zu, seed %llu\n",
                            set->name, zn_type_name(type), (long long)width, (long long)channels,
                            groups, shift, (unsigned long long)seed);
                fail();
            }
            fenced_free(&row);
            fenced_free(&out);
        }
    }
}

// Laws that need no reference: the sums of a constant, and NaN staying inside its group.
ZN_TEST(constants_and_nan)
{
    enum { WIDTH = 10, CHANNELS = 48, GROUPS = 4 };
    static float row[WIDTH * CHANNELS];
    FOR_EACH_SET(set)
    {
        double out[GROUPS * 2];
        for (int i = 0; i < WIDTH * CHANNELS; i++) row[i] = -1.5f;
        row[5 * CHANNELS + 13] = NAN; // group 1
        set->kernels.row_moments(ZN_F32, 2.0f, row, WIDTH, CHANNELS, GROUPS, out);
        for (int g = 0; g < GROUPS; g++) {
            const double n = WIDTH * CHANNELS / GROUPS;
            assert_true(g == 1 ? isnan(out[2 * g]) : out[2 * g] == -3.0 * n);
            assert_true(g == 1 ? isnan(out[2 * g + 1]) : out[2 * g + 1] == 9.0 * n);
        }
    }
}

static void bench(void)
{
    enum { WIDTH = 512, CHANNELS = 128, GROUPS = 32 };
    static float row[WIDTH * CHANNELS];
    double out[GROUPS * 2];
    FOR_EACH_SET(set)
    {
        for (size_t t = 0; t < COUNT(types); t++) {
            bench_clock clock = {0};
            while (bench_again(&clock))
                set->kernels.row_moments(types[t], 1.0f, row, WIDTH, CHANNELS, GROUPS, out);
            bench_result(&clock, set->name, (double)WIDTH * CHANNELS, "elements/ns", "%s",
                         zn_type_name(types[t]));
        }
    }
}

KERNEL_GROUP(row_moments, bench)
