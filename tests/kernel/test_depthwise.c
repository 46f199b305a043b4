// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// depthwise and grouped_product: every version against sums in double, in every combination of
// types, with channels around the width of vectors, pieces of rows, memory off its alignment and
// fenced on both sides.
#include "src/kernel/conv/depthwise.h"
#include "src/kernel/spectral/grouped_product.h"
#include "tests/kernel/fenced.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const zn_type types[] = {ZN_F32, ZN_BF16};

static fenced make(zn_type type, size_t n, size_t shift, zn_random *random)
{
    fenced f = fenced_make(n * zn_type_size(type), shift * zn_type_size(type));
    for (size_t i = 0; i < n; i++) zn_type_store(type, f.data, i, zn_random_normal(random));
    return f;
}

// `terms` products and a sum, each of magnitude 1 or so, and the rounding of the type.
static void check_value(zn_type type, const void *dst, size_t i, double want, double magnitude,
                        int terms)
{
    const double got = (double)zn_type_load(type, dst, i);
    const double bound = (terms + 4) * ldexp(magnitude, -23) +
                         (type == ZN_BF16 ? ldexp(fabs(want), -8) : 0);
    if (fabs(got - want) <= bound) return;
    print_error("%s: %zu is %g, not %g\n", zn_type_name(type), i, got, want);
    fail();
}

// --- depthwise ----------------------------------------------------------------------------------

typedef struct depthwise_case {
    zn_type from, to;
    int64_t width, channels;
    int flags; // 1: pixels on the left, 2: on the right, 4: added, 8: relu
} depthwise_case;

static void check_depthwise(const kernel_set *set, const depthwise_case *k, uint64_t seed)
{
    zn_random random = {.seed = seed};
    const bool left = k->flags & 1, right = k->flags & 2;
    const int64_t there = k->width + left + right, c = k->channels;
    const size_t line = (size_t)(there * c), count = (size_t)(k->width * c);
    fenced src[3], weights = make(ZN_F32, 9 * (size_t)c, seed % 5, &random);
    for (int i = 0; i < 3; i++) src[i] = make(k->from, line, seed % 3, &random);
    fenced added = make(k->from, count, 1, &random), dst = make(k->to, count, 0, &random);
    zn_depthwise_args args = {.src_type = k->from,
                              .dst_type = k->to,
                              .added = k->flags & 4 ? added.data : NULL,
                              .weights = weights.data,
                              .dst = dst.data,
                              .width = k->width,
                              .channels = c,
                              .inside = {left, right},
                              .relu = k->flags & 8};
    for (int i = 0; i < 3; i++)
        args.src[i] = (char *)src[i].data + (size_t)(left * c) * zn_type_size(k->from);
    set->kernels.depthwise(&args);
    for (int64_t i = 0; i < k->width * c; i++) {
        const int64_t x = i / c + left;
        double sum = args.added ? (double)zn_type_load(k->from, added.data, (size_t)i) : 0;
        double magnitude = fabs(sum);
        for (int t = 0; t < 9; t++) {
            const int64_t column = x + t % 3 - 1;
            if (column < 0 || column >= there) continue;
            const double product = (double)zn_type_load(k->from, src[t / 3].data,
                                                        (size_t)(column * c + i % c)) *
                                   (double)((float *)weights.data)[t * c + i % c];
            sum += product;
            magnitude += fabs(product);
        }
        if (args.relu && sum < 0) sum = 0;
        check_value(k->to, dst.data, (size_t)i, sum, magnitude, 9);
    }
    fenced *all[] = {&src[0], &src[1], &src[2], &weights, &added, &dst};
    fenced_close(all, COUNT(all));
}

ZN_TEST(depthwise_versions)
{
    static const int64_t widths[] = {1, 2, 3, 9}, channels[] = {1, 3, 8, 16, 20, 33, 64};
    uint64_t seed = 1; // with which the fifth of the cases that a quick suite takes moves on
    for (size_t w = 0; w < COUNT(widths); w++) {
        for (size_t c = 0; c < COUNT(channels); c++) {
            for (int rest = 0; rest < 64; rest++, seed++) {
                if (!zn_test_takes_one_in(5, seed)) continue;
                const depthwise_case k = {types[rest & 1], types[rest >> 1 & 1], widths[w],
                                          channels[c], rest >> 2};
                FOR_EACH_SET(set) check_depthwise(set, &k, seed);
            }
        }
    }
}

static void check_sums(const kernel_set *set, zn_type from, zn_type dy_type, int64_t width,
                       int64_t c)
{
    zn_random random = {.seed = (uint64_t)(width * 100 + c)};
    const size_t line = (size_t)(width * c);
    fenced src = make(from, 3 * line, 1, &random), dy = make(dy_type, line, 2, &random);
    fenced sums = make(ZN_F32, 9 * (size_t)c, 0, &random);
    const zn_depthwise_sums_args args = {from, dy_type, src.data, dy.data, sums.data, width, c};
    set->kernels.depthwise_sums(&args);
    for (int64_t k = 0; k < 9 * c; k++) {
        double sum = 0, magnitude = 0;
        for (int64_t x = 0; x < width; x++) {
            const int64_t t = k / c, column = x + t % 3 - 1;
            if (column < 0 || column >= width) continue;
            const double product = (double)zn_type_load(
                                       from, src.data,
                                       (size_t)((t / 3 * width + column) * c + k % c)) *
                                   (double)zn_type_load(dy_type, dy.data, (size_t)(x * c + k % c));
            sum += product;
            magnitude += fabs(product);
        }
        check_value(ZN_F32, sums.data, (size_t)k, sum, magnitude, (int)width);
    }
    fenced *all[] = {&src, &dy, &sums};
    fenced_close(all, COUNT(all));
}

ZN_TEST(depthwise_sums)
{
    static const int64_t widths[] = {1, 2, 7, 40}, channels[] = {3, 16, 20, 64};
    for (int i = 0; i < 64; i++) FOR_EACH_SET(set)
    check_sums(set, types[i & 1], types[i >> 1 & 1], widths[i >> 2 & 3], channels[i >> 4]);
}

// --- grouped_product ----------------------------------------------------------------------------

typedef struct grouped_case {
    int64_t groups, inputs, outputs, pixels;
    int flags; // 1: bf16 src, 2: bf16 added, 4: bf16 dst, 8: bias, 16: added, 32: relu
} grouped_case;

static void check_grouped(const kernel_set *set, const grouped_case *k, uint64_t seed)
{
    zn_random random = {.seed = seed};
    const size_t from = (size_t)(k->groups * k->inputs), to = (size_t)(k->groups * k->outputs);
    const size_t pixels = (size_t)k->pixels;
    const zn_type src_type = types[k->flags & 1], added_type = types[k->flags >> 1 & 1];
    const zn_type dst_type = types[k->flags >> 2 & 1];
    fenced src = make(src_type, pixels * from, seed % 3, &random);
    fenced added = make(added_type, pixels * to, 1, &random), bias = make(ZN_F32, to, 1, &random);
    fenced weights = make(ZN_F32, from * (size_t)k->outputs, seed % 5, &random);
    fenced dst = make(dst_type, pixels * to, 0, &random);
    const zn_grouped_product_args args = {.src_type = src_type,
                                          .added_type = added_type,
                                          .dst_type = dst_type,
                                          .src = src.data,
                                          .weights = weights.data,
                                          .bias = k->flags & 8 ? bias.data : NULL,
                                          .added = k->flags & 16 ? added.data : NULL,
                                          .dst = dst.data,
                                          .groups = k->groups,
                                          .inputs = k->inputs,
                                          .outputs = k->outputs,
                                          .relu = k->flags & 32};
    set->kernels.grouped_product(&args, 0, k->pixels);
    for (size_t i = 0; i < pixels * to; i++) {
        const size_t group = i % to / (size_t)k->outputs, o = i % (size_t)k->outputs;
        double sum = args.bias ? (double)args.bias[i % to] : 0;
        if (args.added) sum += (double)zn_type_load(added_type, added.data, i);
        double magnitude = fabs(sum) + 1;
        for (size_t n = 0; n < (size_t)k->inputs; n++) {
            const size_t in = (size_t)k->inputs;
            const double product = (double)zn_type_load(src_type, src.data,
                                                        i / to * from + group * in + n) *
                                   (double)args.weights[(group * in + n) * (size_t)k->outputs + o];
            sum += product;
            magnitude += fabs(product);
        }
        if (args.relu && sum < 0) sum = 0;
        check_value(dst_type, dst.data, i, sum, magnitude, (int)k->inputs);
    }
    fenced *all[] = {&src, &added, &bias, &weights, &dst};
    fenced_close(all, COUNT(all));
}

ZN_TEST(grouped_versions)
{
    static const int64_t shapes[][3] = {{1, 3, 5},   {2, 5, 9},   {4, 4, 4}, {4, 8, 8},
                                        {4, 16, 16}, {1, 64, 64}, {3, 7, 40}};
    static const int64_t pixels[] = {1, 7, 8, 41, 64};
    uint64_t seed = 1; // as above
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (size_t p = 0; p < COUNT(pixels); p++) {
            for (int flags = 0; flags < 64; flags++, seed++) {
                if (!zn_test_takes_one_in(5, seed)) continue;
                const grouped_case k = {shapes[s][0], shapes[s][1], shapes[s][2], pixels[p], flags};
                FOR_EACH_SET(set) check_grouped(set, &k, seed);
            }
        }
    }
}

// --- timings ------------------------------------------------------------------------------------

static void bench_depthwise(const kernel_set *set, zn_type type)
{
    enum { WIDTH = 256, CHANNELS = 64 };
    static float src[WIDTH * CHANNELS], dst[WIDTH * CHANNELS], weights[9 * CHANNELS];
    const zn_depthwise_args args = {.src_type = type,
                                    .dst_type = type,
                                    .src = {src, src, src},
                                    .weights = weights,
                                    .dst = dst,
                                    .width = WIDTH,
                                    .channels = CHANNELS};
    bench_clock clock = {0};
    while (bench_again(&clock)) set->kernels.depthwise(&args);
    bench_result(&clock, set->name, 18.0 * WIDTH * CHANNELS, "GFLOP/s", "depthwise %s",
                 zn_type_name(type));
}

static void bench_grouped(const kernel_set *set, zn_type type)
{
    enum { PIXELS = 256, GROUPS = 8, EACH = 8, CHANNELS = GROUPS * EACH };
    static float src[PIXELS * CHANNELS], dst[PIXELS * CHANNELS], weights[CHANNELS * EACH];
    const zn_grouped_product_args args = {.src_type = type,
                                          .added_type = type,
                                          .dst_type = type,
                                          .src = src,
                                          .weights = weights,
                                          .dst = dst,
                                          .groups = GROUPS,
                                          .inputs = EACH,
                                          .outputs = EACH};
    bench_clock clock = {0};
    while (bench_again(&clock)) set->kernels.grouped_product(&args, 0, PIXELS);
    bench_result(&clock, set->name, 2.0 * PIXELS * CHANNELS * EACH, "GFLOP/s", "8 groups of 8, %s",
                 zn_type_name(type));
}

static void bench(void)
{
    FOR_EACH_SET(set)
    {
        for (size_t t = 0; t < COUNT(types); t++) {
            bench_depthwise(set, types[t]);
            bench_grouped(set, types[t]);
        }
    }
}

KERNEL_GROUP(depthwise, bench)
