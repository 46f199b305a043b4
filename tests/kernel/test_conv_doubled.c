// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_doubled against sums in double over the doubled map, and its promise of the same bits for
// any rows, area and width. With --bench: GFLOP/s, counted as a direct convolution's.
#include "src/kernel/conv/conv_doubled.h"
#include "tests/kernel/fenced.h"

#include <float.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct shape {
    int width, channels_in, channels_out;
} shape;

static const shape shapes[] = {
    {1, 16, 16},  {2, 16, 32},  {3, 32, 16},  {5, 64, 64},
    {12, 16, 48}, {13, 48, 80}, {25, 16, 16}, {5, 208, 144},
};

typedef struct problem {
    zn_doubled_args args;
    fenced src, weights, packed, bias, dst, scratch;
} problem;

static fenced floats(int64_t n, size_t shift)
{
    return fenced_make((size_t)n * sizeof(float), shift * sizeof(float));
}

static int64_t rows_in(int64_t row, int64_t rows)
{
    return zn_doubled_half(row + rows) - zn_doubled_half(row - 1) + 1;
}

static problem make(const shape *s, int64_t row, int64_t rows, size_t shift, uint64_t seed)
{
    zn_random random = {.seed = seed};
    size_t packed_bytes, scratch_bytes;
    assert_true(zn_doubled_packed_bytes(s->channels_out, s->channels_in, &packed_bytes));
    const zn_area largest = zn_doubled_largest(s->channels_in);
    assert_true(zn_doubled_scratch_bytes(s->channels_in, &largest, &scratch_bytes));
    problem p = {
        .src = floats(rows_in(row, rows) * s->width * s->channels_in, shift),
        .weights = floats((int64_t)s->channels_out * s->channels_in * 9, 0),
        .packed = fenced_make(packed_bytes, shift * sizeof(float)),
        .bias = floats(s->channels_out, shift),
        .dst = floats(rows * 2 * s->width * s->channels_out, shift),
        .scratch = fenced_make(scratch_bytes, shift * sizeof(float)),
    };
    fill_normal(p.weights.data, p.weights.bytes / sizeof(float), &random);
    fill_normal(p.bias.data, p.bias.bytes / sizeof(float), &random);
    fill_normal(p.src.data, p.src.bytes / sizeof(float), &random);
    zn_doubled_pack(p.weights.data, s->channels_out, s->channels_in, p.packed.data);
    p.args = (zn_doubled_args){
        .src = p.src.data,
        .width = s->width,
        .channels_in = s->channels_in,
        .channels_out = s->channels_out,
        .packed = p.packed.data,
        .bias = zn_random_below(&random, 2) ? p.bias.data : NULL,
        .dst = p.dst.data,
        .row = row,
        .rows = rows,
    };
    return p;
}

static void free_problem(problem *p)
{
    fenced *all[] = {&p->src, &p->weights, &p->packed, &p->bias, &p->dst, &p->scratch};
    fenced_close(all, COUNT(all));
}

// All rows by areas of at most `rows` x `columns`.
static void run(const problem *p, const kernel_set *set, int64_t rows, int64_t columns)
{
    const zn_doubled_args *a = &p->args;
    const zn_areas areas = zn_areas_cut(zn_doubled_rows(a->row, a->rows), rows, a->width, columns,
                                        1);
    for (int64_t i = 0; i < zn_areas_count(&areas); i++) {
        const zn_area area = zn_areas_get(&areas, i);
        set->kernels.doubled(a, &area, p->scratch.data);
    }
}

static void run_whole(const problem *p, const kernel_set *set)
{
    const zn_area largest = zn_doubled_largest(p->args.channels_in);
    run(p, set, largest.rows, largest.columns);
}

// One channel of the doubled map; zero outside.
static double doubled_at(const zn_doubled_args *a, int64_t row, int64_t x, int64_t in)
{
    if (x < 0 || x >= 2 * a->width) return 0;
    const int64_t at = zn_doubled_half(a->row + row) - zn_doubled_half(a->row - 1);
    return (double)a->src[(at * a->width + x / 2) * a->channels_in + in];
}

// One output in double, and how far f32 may be from it: differences of neighbours are up to four
// times the largest pixel around, sums of weights up to the sum of their magnitudes.
static double reference(const problem *p, int64_t row, int64_t x, int64_t out, double *bound)
{
    const zn_doubled_args *a = &p->args;
    const float *w = (const float *)p->weights.data + out * a->channels_in * 9;
    double sum = a->bias ? (double)a->bias[out] : 0, size = fabs(sum);
    for (int64_t in = 0; in < a->channels_in; in++, w += 9) {
        double largest = 0, weights = 0;
        for (int i = 0; i < 9; i++) {
            const double d = doubled_at(a, row + i / 3 - 1, x + i % 3 - 1, in);
            sum += d * (double)w[i];
            largest = fmax(largest, fabs(d));
            weights += fabs((double)w[i]);
        }
        size += largest * weights;
    }
    *bound = ((double)a->channels_in + 8) * 0.5 * (double)FLT_EPSILON * 9 * size;
    return sum;
}

static void check(const problem *p, const kernel_set *set, uint64_t seed)
{
    const zn_doubled_args *a = &p->args;
    const float *dst = a->dst;
    for (int64_t i = 0; i < a->rows * 2 * a->width * a->channels_out; i++, dst++) {
        const int64_t out = i % a->channels_out, pixel = i / a->channels_out;
        const int64_t row = pixel / (2 * a->width), x = pixel % (2 * a->width);
        double bound;
        const double expected = reference(p, row, x, out, &bound);
        if (fabs((double)*dst - expected) <= bound) continue;
        print_error("%s, seed %llu, row %lld x %lld channel %lld: %.9g, not %.9g +- %.3g\n",
                    set->name, (unsigned long long)seed, (long long)row, (long long)x,
                    (long long)out, (double)*dst, expected, bound);
        fail();
    }
}

// Calls begin and end on even and odd rows, and above the map.
ZN_TEST(outputs_are_near_double)
{
    FOR_EACH_SET(set)
    {
        for (uint64_t s = 0; s < COUNT(shapes); s++) {
            for (uint64_t shift = 0; shift < 8; shift++) {
                const uint64_t seed = s * 8 + shift;
                if (!zn_test_takes(seed)) continue;
                const int64_t row = (int64_t)(seed % 5) - 2, rows = 1 + (int64_t)(seed % 4);
                problem p = make(&shapes[s], row, rows, shift, seed);
                run_whole(&p, set);
                check(&p, set, seed);
                free_problem(&p);
            }
        }
    }
}

// Every call for some rows of the whole, by areas of every size, gives the bits of the whole.
ZN_TEST(bits_do_not_depend_on_rows_and_areas)
{
    const shape s = {31, 32, 48};
    const zn_area largest = zn_doubled_largest(s.channels_in);
    enum { ROWS = 11 };
    FOR_EACH_SET(set)
    {
        problem whole = make(&s, 0, ROWS, 0, 77);
        const size_t row_floats = (size_t)(2 * s.width * s.channels_out);
        run_whole(&whole, set);
        for (int64_t row = 0; row < ROWS; row++) {
            const int64_t rows = 1 + row * 5 % (ROWS - row), band = 1 + row % largest.rows;
            problem part = make(&s, row, rows, 3, 77);
            memcpy(part.src.data,
                   whole.args.src + (zn_doubled_half(row - 1) + 1) * s.width * s.channels_in,
                   part.src.bytes);
            part.args.bias = whole.args.bias;
            run(&part, set, band, 1 + row % largest.columns);
            assert_memory_equal(part.dst.data, whole.args.dst + (size_t)row * row_floats,
                                part.dst.bytes);
            free_problem(&part);
        }
        free_problem(&whole);
    }
}

// The first columns of a picture, as a picture of their own, have the bits they had in it, but for
// the last, which lost its neighbour.
ZN_TEST(bits_do_not_depend_on_width)
{
    const shape s = {31, 32, 48};
    FOR_EACH_SET(set)
    {
        for (int width = 2; width < s.width; width += 7) {
            const shape narrow = {width, s.channels_in, s.channels_out};
            problem whole = make(&s, 0, 1, 0, 78), part = make(&narrow, 0, 1, 0, 78);
            for (int row = 0; row < 2; row++) {
                memcpy((float *)part.src.data + row * width * s.channels_in,
                       whole.args.src + row * s.width * s.channels_in,
                       (size_t)(width * s.channels_in) * sizeof(float));
            }
            part.args.bias = whole.args.bias;
            run_whole(&whole, set);
            run_whole(&part, set);
            assert_memory_equal(part.args.dst, whole.args.dst,
                                (size_t)((2 * width - 1) * s.channels_out) * sizeof(float));
            free_problem(&whole);
            free_problem(&part);
        }
    }
}

// The versions that fuse agree to the bit.
ZN_TEST(fused_versions_agree)
{
    for (uint64_t s = 0; s < COUNT(shapes); s++) {
        problem first = make(&shapes[s], 1, 4, 0, s);
        const kernel_set *lowest = kernel_set_after(kernel_set_after(NULL));
        for (const kernel_set *set = lowest; set; set = kernel_set_after(set)) {
            problem p = make(&shapes[s], 1, 4, 0, s);
            run_whole(&p, set);
            if (set == lowest) memcpy(first.dst.data, p.dst.data, p.dst.bytes);
            assert_memory_equal(first.dst.data, p.dst.data, p.dst.bytes);
            free_problem(&p);
        }
        free_problem(&first);
    }
}

ZN_TEST(sizes)
{
    size_t bytes = 1;
    assert_true(zn_doubled_packed_bytes(32, 16, &bytes));
    assert_int_equal(bytes, 32 * 16 * 9 * sizeof(float));
    assert_false(zn_doubled_packed_bytes(INT64_MAX, 16, &bytes));
    const zn_area largest = zn_doubled_largest(INT64_MAX);
    assert_false(zn_doubled_scratch_bytes(INT64_MAX, &largest, &bytes));
    assert_int_equal(zn_doubled_half(-1), -1);
    assert_int_equal(zn_doubled_half(-2), -1);
    assert_int_equal(zn_doubled_rows(1, 2), 2);
    assert_int_equal(zn_doubled_rows(2, 2), 1);
}

static void bench(void)
{
    static const shape cases[] = {
        {64, 64, 64}, {128, 64, 64}, {256, 64, 64}, {128, 256, 256}, {64, 512, 512}};
    enum { ROWS = 8 };
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < COUNT(cases); i++) {
            const shape *s = &cases[i];
            problem p = make(s, 0, ROWS, 0, 1);
            bench_clock clock = {0};
            while (bench_again(&clock)) run_whole(&p, set);
            const double flops = 18.0 * ROWS * 2 * s->width * s->channels_in * s->channels_out;
            bench_result(&clock, set->name, flops, "GFLOP/s", "%d wide doubled, %d to %d", s->width,
                         s->channels_in, s->channels_out);
            free_problem(&p);
        }
    }
}

KERNEL_GROUP(conv_doubled, bench)
