// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// winograd against sums in double, its promise of the same bits for any area and width, and that it
// is no less exact than a direct convolution. With --bench: GFLOP/s, counted as a direct
// convolution's, beside those of conv_f32.
#include "src/kernel/conv/winograd.h"

#include "src/base/memory.h"
#include "src/kernel/conv/conv_f32.h"
#include "tests/kernel/fenced.h"

#include <float.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct shape {
    int width, channels_in, channels_out;
} shape;

static const shape shapes[] = {
    {1, 16, 16},  {2, 16, 32},  {3, 32, 16},  {4, 16, 48},  {5, 64, 64},   {7, 16, 16},
    {13, 48, 80}, {24, 16, 16}, {47, 64, 64}, {49, 16, 32}, {9, 144, 160},
};

typedef struct problem {
    zn_winograd_args args;
    fenced src, weights, packed, bias, residual, dst, scratch;
    int64_t rows;
} problem;

static fenced floats(int64_t n, size_t shift)
{
    return fenced_make((size_t)n * sizeof(float), shift * sizeof(float));
}

static problem make(const shape *s, int64_t rows, size_t shift, uint64_t seed)
{
    zn_random random = {.seed = seed};
    const int64_t outputs = rows * s->width * s->channels_out;
    size_t packed_bytes, scratch_bytes;
    assert_true(zn_winograd_packed_bytes(s->channels_out, s->channels_in, &packed_bytes));
    const zn_area largest = zn_winograd_largest(s->channels_in);
    assert_true(zn_winograd_scratch_bytes(s->channels_in, &largest, &scratch_bytes));
    problem p = {
        .src = floats((rows + 2) * s->width * s->channels_in, shift),
        .weights = floats((int64_t)s->channels_out * s->channels_in * 9, 0),
        .packed = fenced_make(packed_bytes, shift * sizeof(float)),
        .bias = floats(s->channels_out, shift),
        .residual = floats(outputs, shift),
        .dst = floats(outputs, shift),
        .scratch = fenced_make(scratch_bytes, shift * sizeof(float)),
        .rows = rows,
    };
    fill_normal(p.src.data, p.src.bytes / sizeof(float), &random);
    fill_normal(p.weights.data, p.weights.bytes / sizeof(float), &random);
    fill_normal(p.bias.data, p.bias.bytes / sizeof(float), &random);
    fill_normal(p.residual.data, p.residual.bytes / sizeof(float), &random);
    zn_winograd_pack(p.weights.data, s->channels_out, s->channels_in, p.packed.data);
    p.args = (zn_winograd_args){
        .src = p.src.data,
        .width = s->width,
        .channels_in = s->channels_in,
        .channels_out = s->channels_out,
        .out_step = s->channels_out,
        .packed = p.packed.data,
        .bias = zn_random_below(&random, 2) ? p.bias.data : NULL,
        .residual = zn_random_below(&random, 2) ? p.residual.data : NULL,
        .dst = p.dst.data,
        .relu = zn_random_below(&random, 2),
    };
    return p;
}

static void free_problem(problem *p)
{
    fenced *all[] = {&p->src,      &p->weights, &p->packed, &p->bias,
                     &p->residual, &p->dst,     &p->scratch};
    fenced_close(all, COUNT(all));
}

static int64_t tiles_of(const problem *p)
{
    return (p->args.width + ZN_WINOGRAD_TILE - 1) / ZN_WINOGRAD_TILE;
}

// All rows by areas of at most `rows` x `tiles`.
static void run(const problem *p, const kernel_set *set, int64_t rows, int64_t tiles)
{
    for (int64_t row = 0; row < p->rows; row += rows) {
        for (int64_t tile = 0; tile < tiles_of(p); tile += tiles) {
            const int64_t down = p->rows - row, right = tiles_of(p) - tile;
            const zn_area area = {row, down < rows ? down : rows, tile,
                                  right < tiles ? right : tiles};
            set->kernels.winograd(&p->args, &area, p->scratch.data);
        }
    }
}

static void run_whole(const problem *p, const kernel_set *set)
{
    const zn_area largest = zn_winograd_largest(p->args.channels_in);
    run(p, set, largest.rows, largest.columns);
}

// One output from the unpacked weights, in double; `size` is the sum of magnitudes that a tile's
// roundings grow from: of all pixels that any result of the tile reads.
static double reference(const problem *p, int64_t row, int64_t x, int64_t out, double *size)
{
    const zn_winograd_args *a = &p->args;
    const float *weights = p->weights.data;
    const int64_t tile = x / ZN_WINOGRAD_TILE * ZN_WINOGRAD_TILE;
    double sum = a->bias ? (double)a->bias[out] : 0;
    *size = fabs(sum);
    for (int64_t in = 0; in < a->channels_in; in++) {
        for (int64_t i = 0; i < 3; i++) {
            const float *w = weights + ((out * a->channels_in + in) * 3 + i) * 3;
            double largest = 0;
            for (int64_t column = tile - 1; column < tile + 5; column++) {
                if (column < 0 || column >= a->width) continue;
                const double d = (double)
                                     a->src[((row + i) * a->width + column) * a->channels_in + in];
                largest = fmax(largest, fabs(d));
                if (column >= x - 1 && column <= x + 1) sum += d * (double)w[column - x + 1];
            }
            *size += largest * (fabs((double)w[0]) + fabs((double)w[1]) + fabs((double)w[2]));
        }
    }
    const double r = a->residual ? (double)a->residual[(row * a->width + x) * a->channels_out + out]
                                 : 0;
    *size += fabs(r);
    return a->relu && sum + r < 0 ? 0 : sum + r;
}

// A magnitude grows by at most 5.1 in B, 0.8 in G and 3.4 in A (the largest sums of a row's
// magnitudes); each of the 3 c + 12 roundings on the way then costs half a unit of that.
static double bound_of(const problem *p, double size)
{
    const double roundings = 3.0 * (double)p->args.channels_in + 12;
    return roundings * 0.5 * (double)FLT_EPSILON * 14 * size;
}

static void check(const problem *p, const kernel_set *set, uint64_t seed)
{
    const zn_winograd_args *a = &p->args;
    const float *dst = a->dst;
    for (int64_t row = 0; row < p->rows; row++) {
        for (int64_t x = 0; x < a->width; x++) {
            for (int64_t out = 0; out < a->channels_out; out++, dst++) {
                double size;
                const double expected = reference(p, row, x, out, &size);
                if (fabs((double)*dst - expected) <= bound_of(p, size)) continue;
                print_error("%s, seed %llu, row %lld x %lld channel %lld: %.9g, not %.9g\n",
                            set->name, (unsigned long long)seed, (long long)row, (long long)x,
                            (long long)out, (double)*dst, expected);
                fail();
            }
        }
    }
}

ZN_TEST(outputs_are_near_double)
{
    FOR_EACH_SET(set)
    {
        for (uint64_t s = 0; s < COUNT(shapes); s++) {
            // The heavy shapes in two positions only: emulated CPUs run this too.
            const uint64_t step = shapes[s].channels_in * shapes[s].channels_out > 2000 ? 5 : 1;
            for (uint64_t shift = 0; shift < 8; shift += step) {
                const uint64_t seed = s * 8 + shift;
                problem p = make(&shapes[s], 3, shift, seed);
                run_whole(&p, set);
                check(&p, set, seed);
                free_problem(&p);
            }
        }
    }
}

// Areas of every size, in place of the residual, have the bits of the largest.
ZN_TEST(bits_do_not_depend_on_areas)
{
    const shape s = {61, 32, 48};
    enum { ROWS = 7 };
    FOR_EACH_SET(set)
    {
        problem whole = make(&s, ROWS, 0, 77);
        whole.args.residual = whole.residual.data;
        run_whole(&whole, set);
        const zn_area largest = zn_winograd_largest(s.channels_in);
        for (int64_t rows = 1; rows <= largest.rows; rows++) {
            for (int64_t tiles = 1; tiles <= largest.columns; tiles += rows) {
                problem parts = make(&s, ROWS, 3, 77);
                memcpy(parts.dst.data, parts.residual.data, parts.dst.bytes);
                parts.args.residual = parts.dst.data;
                run(&parts, set, rows, tiles);
                assert_memory_equal(parts.dst.data, whole.dst.data, whole.dst.bytes);
                free_problem(&parts);
            }
        }
        free_problem(&whole);
    }
}

// Output channels of every count apart from the others, in place of the residual, have the bits of
// all together.
ZN_TEST(bits_do_not_depend_on_slices)
{
    const shape s = {9, 16, 80};
    FOR_EACH_SET(set)
    {
        problem whole = make(&s, 5, 0, 79);
        whole.args.residual = whole.residual.data;
        run_whole(&whole, set);
        for (int64_t slice = ZN_WINOGRAD_BLOCK; slice < s.channels_out;
             slice += ZN_WINOGRAD_BLOCK) {
            problem parts = make(&s, 5, 3, 79);
            memcpy(parts.dst.data, parts.residual.data, parts.dst.bytes);
            parts.args.residual = parts.dst.data;
            problem one = parts;
            for (int64_t begin = 0; begin < s.channels_out; begin += slice) {
                const int64_t left = s.channels_out - begin;
                one.args = zn_winograd_channels(parts.args, begin,
                                                begin + (left < slice ? left : slice));
                run_whole(&one, set);
            }
            assert_memory_equal(parts.dst.data, whole.dst.data, whole.dst.bytes);
            free_problem(&parts);
        }
        free_problem(&whole);
    }
}

// The first columns of a picture, as a picture of their own, have the bits they had in it, but for
// the last tile's, which lost its neighbours.
ZN_TEST(bits_do_not_depend_on_width)
{
    const shape s = {61, 32, 48};
    FOR_EACH_SET(set)
    {
        for (int width = 5; width < s.width; width += 7) {
            const shape narrow = {width, s.channels_in, s.channels_out};
            const int same = (width - 1) / ZN_WINOGRAD_TILE * ZN_WINOGRAD_TILE;
            problem whole = make(&s, 1, 0, 78), part = make(&narrow, 1, 0, 78);
            for (int row = 0; row < 3; row++) {
                memcpy((float *)part.src.data + row * width * s.channels_in,
                       whole.args.src + row * s.width * s.channels_in,
                       (size_t)(width * s.channels_in) * sizeof(float));
            }
            whole.args.residual = NULL;
            zn_winograd_args args = whole.args;
            args.src = part.src.data;
            args.dst = part.dst.data;
            args.width = width;
            run_whole(&whole, set);
            part.args = args;
            run_whole(&part, set);
            assert_memory_equal(args.dst, whole.args.dst,
                                (size_t)(same * s.channels_out) * sizeof(float));
            free_problem(&whole);
            free_problem(&part);
        }
    }
}

// The versions that fuse agree to the bit.
ZN_TEST(fused_versions_agree)
{
    for (uint64_t s = 0; s < COUNT(shapes); s++) {
        problem first = make(&shapes[s], 2, 0, s);
        const kernel_set *lowest = kernel_set_after(kernel_set_after(NULL));
        for (const kernel_set *set = lowest; set; set = kernel_set_after(set)) {
            problem p = make(&shapes[s], 2, 0, s);
            run_whole(&p, set);
            if (set == lowest) memcpy(first.dst.data, p.dst.data, p.dst.bytes);
            assert_memory_equal(first.dst.data, p.dst.data, p.dst.bytes);
            free_problem(&p);
        }
        free_problem(&first);
    }
}

static double squared_error(const problem *p, const float *dst)
{
    double sum = 0;
    for (int64_t i = 0; i < p->rows * p->args.width * p->args.channels_out; i++) {
        const int64_t out = i % p->args.channels_out, pixel = i / p->args.channels_out;
        double size;
        const double expected = reference(p, pixel / p->args.width, pixel % p->args.width, out,
                                          &size);
        sum += ((double)dst[i] - expected) * ((double)dst[i] - expected);
    }
    return sum;
}

// Values as the networks' maps have them: none negative, and neighbours alike.
static void fill_smooth(problem *p)
{
    zn_random random = {.seed = 6};
    float *src = p->src.data;
    for (int64_t in = 0; in < p->args.channels_in; in++) {
        const float mean = zn_random_normal(&random);
        for (int64_t i = 0; i < (p->rows + 2) * p->args.width; i++) {
            const float value = mean + 0.3f * zn_random_normal(&random);
            src[i * p->args.channels_in + in] = value < 0 ? 0 : value;
        }
    }
}

// What the points were chosen for: rounding takes no more than it takes of a direct sum.
ZN_TEST(no_less_exact_than_direct)
{
    const shape s = {32, 64, 64};
    FOR_EACH_SET(set)
    {
        problem p = make(&s, 1, 0, 5);
        p.args.bias = p.args.residual = NULL;
        p.args.relu = false;
        fill_smooth(&p);
        run_whole(&p, set);
        const double winograd = squared_error(&p, p.args.dst);
        size_t bytes;
        assert_true(zn_conv_f32_packed_bytes(s.channels_out, s.channels_in, 3, 3, &bytes));
        float *packed = zn_alloc(bytes);
        assert_non_null(packed);
        zn_conv_f32_pack(p.weights.data, s.channels_out, s.channels_in, 3, 3, packed);
        const zn_conv_f32_args direct = {.src = p.args.src,
                                         .width_in = s.width,
                                         .channels_in = s.channels_in,
                                         .packed = packed,
                                         .dst = p.args.dst,
                                         .width_out = s.width,
                                         .channels_out = s.channels_out,
                                         .kernel_h = 3,
                                         .kernel_w = 3,
                                         .stride = 1,
                                         .pad_left = 1};
        set->kernels.conv_f32(&direct, 0, 1);
        assert_true(winograd <= squared_error(&p, p.args.dst));
        zn_free(packed);
        free_problem(&p);
    }
}

ZN_TEST(nan_stays_in_its_tiles)
{
    const shape s = {16, 16, 16};
    FOR_EACH_SET(set)
    {
        problem p = make(&s, 1, 0, 1);
        p.args.residual = NULL;
        p.args.relu = true;
        ((float *)p.src.data)[(s.width + 5) * s.channels_in] = NAN; // tile 1, no edge of it
        run_whole(&p, set);
        for (int i = 0; i < s.width * s.channels_out; i++) {
            const int tile = i / s.channels_out / ZN_WINOGRAD_TILE;
            assert_int_equal(isnan(p.args.dst[i]) != 0, tile == 1);
        }
        free_problem(&p);
    }
}

ZN_TEST(sizes)
{
    size_t bytes = 1;
    assert_true(zn_winograd_packed_bytes(32, 16, &bytes));
    assert_int_equal(bytes, 32 * 16 * 3 * 6 * sizeof(float));
    assert_false(zn_winograd_packed_bytes(INT64_MAX, 16, &bytes));
    assert_false(zn_winograd_packed_bytes(1 << 20, INT64_MAX / 1024, &bytes));
    const zn_area largest = zn_winograd_largest(INT64_MAX);
    assert_false(zn_winograd_scratch_bytes(INT64_MAX, &largest, &bytes));
}

// Counted as a direct convolution's operations, so that figures compare with those of conv_f32.
static double flops(const shape *s, int64_t rows)
{
    return 18.0 * (double)rows * s->width * s->channels_in * s->channels_out;
}

static void bench(void)
{
    static const shape cases[] = {{64, 64, 64},    {128, 64, 64},   {256, 64, 64},   {512, 64, 64},
                                  {512, 128, 128}, {256, 256, 256}, {128, 512, 512}, {64, 512, 512},
                                  {16, 512, 512},  {8, 512, 512}};
    enum { ROWS = 8 };
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < COUNT(cases); i++) {
            const shape *s = &cases[i];
            problem p = make(s, ROWS, 0, 1);
            bench_clock clock = {0};
            while (bench_again(&clock)) run_whole(&p, set);
            bench_result(&clock, set->name, flops(s, ROWS), "GFLOP/s", "%d wide, %d to %d",
                         s->width, s->channels_in, s->channels_out);
            free_problem(&p);
        }
    }
}

KERNEL_GROUP(winograd, bench)
