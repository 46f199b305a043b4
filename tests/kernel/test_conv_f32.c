// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_f32 against sums in double, and its promise of the same bits for any rows and width.
#include "src/kernel/conv/conv_f32.h"
#include "tests/kernel/fenced.h"

#include <float.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct shape {
    int width_in, channels_in, channels_out, kernel_h, kernel_w, stride, pad_left, pad_right;
} shape;

static const shape shapes[] = {
    {1, 1, 1, 1, 1, 1, 0, 0},     {1, 3, 16, 3, 3, 1, 1, 1},   {2, 4, 3, 3, 3, 1, 1, 1},
    {3, 5, 7, 1, 1, 1, 0, 0},     {5, 3, 64, 3, 3, 1, 1, 1},   {8, 16, 17, 3, 3, 2, 1, 1},
    {9, 16, 32, 3, 3, 2, 0, 1},   {13, 7, 33, 3, 3, 1, 1, 1},  {14, 64, 64, 3, 3, 1, 1, 1},
    {15, 64, 3, 3, 3, 1, 1, 1},   {26, 4, 48, 3, 3, 1, 1, 1},  {31, 2, 15, 5, 7, 3, 3, 3},
    {64, 64, 16, 1, 1, 1, 0, 0},  {67, 9, 31, 3, 3, 1, 1, 1},  {4, 3, 5, 3, 9, 1, 4, 4},
    {2, 2, 2, 2, 2, 1, 5, 5},     {7, 256, 40, 3, 3, 1, 1, 1}, {11, 3, 8, 2, 2, 2, 0, 0},
    {130, 16, 12, 3, 3, 1, 1, 1}, {37, 31, 65, 3, 1, 1, 0, 0},
};

typedef struct problem {
    zn_conv_f32_args args;
    fenced src, weights, packed, bias, residual, dst;
    int64_t rows;
} problem;

static fenced floats(int64_t n, size_t shift)
{
    return fenced_make((size_t)n * sizeof(float), shift * sizeof(float));
}

static problem make(const shape *s, int64_t rows, size_t shift, uint64_t seed)
{
    zn_random random = {.seed = seed};
    const int64_t width_out = (s->width_in + s->pad_left + s->pad_right - s->kernel_w) / s->stride +
                              1;
    const int64_t rows_in = (rows - 1) * s->stride + s->kernel_h;
    const int64_t outputs = rows * width_out * s->channels_out;
    size_t packed_bytes;
    assert_true(zn_conv_f32_packed_bytes(s->channels_out, s->channels_in, s->kernel_h, s->kernel_w,
                                         &packed_bytes));
    problem p = {
        .src = floats(rows_in * s->width_in * s->channels_in, shift),
        .weights = floats((int64_t)s->channels_out * s->channels_in * s->kernel_h * s->kernel_w, 0),
        .packed = fenced_make(packed_bytes, shift * sizeof(float)),
        .bias = floats(s->channels_out, shift),
        .residual = floats(outputs, shift),
        .dst = floats(outputs, shift),
        .rows = rows,
    };
    fill_normal(p.src.data, p.src.bytes / sizeof(float), &random);
    fill_normal(p.weights.data, p.weights.bytes / sizeof(float), &random);
    fill_normal(p.bias.data, p.bias.bytes / sizeof(float), &random);
    fill_normal(p.residual.data, p.residual.bytes / sizeof(float), &random);
    zn_conv_f32_pack(p.weights.data, s->channels_out, s->channels_in, s->kernel_h, s->kernel_w,
                     p.packed.data);
    p.args = (zn_conv_f32_args){
        .src = p.src.data,
        .width_in = s->width_in,
        .channels_in = s->channels_in,
        .packed = p.packed.data,
        .bias = zn_random_below(&random, 2) ? p.bias.data : NULL,
        .residual = zn_random_below(&random, 2) ? p.residual.data : NULL,
        .dst = p.dst.data,
        .width_out = width_out,
        .channels_out = s->channels_out,
        .kernel_h = s->kernel_h,
        .kernel_w = s->kernel_w,
        .stride = s->stride,
        .pad_left = s->pad_left,
        .relu = zn_random_below(&random, 2),
    };
    return p;
}

static void free_problem(problem *p)
{
    fenced *all[] = {&p->src, &p->weights, &p->packed, &p->bias, &p->residual, &p->dst};
    fenced_close(all, COUNT(all));
}

// One output from the unpacked weights, in double, and how far a sum of f32 may be from it.
static double reference(const problem *p, int64_t row, int64_t x, int64_t out, double *bound)
{
    const zn_conv_f32_args *a = &p->args;
    const float *weights = p->weights.data;
    const int64_t offset = (row * a->width_out + x) * a->channels_out + out;
    double sum = a->bias ? (double)a->bias[out] : 0, size = fabs(sum), terms = 0;
    for (int64_t kh = 0; kh < a->kernel_h; kh++) {
        for (int64_t kw = 0; kw < a->kernel_w; kw++) {
            const int64_t column = x * a->stride + kw - a->pad_left;
            if (column < 0 || column >= a->width_in) continue;
            for (int64_t in = 0; in < a->channels_in; in++, terms++) {
                const int64_t from = ((row * a->stride + kh) * a->width_in + column);
                const int64_t w = ((out * a->channels_in + in) * a->kernel_h + kh) * a->kernel_w;
                const double product = (double)a->src[from * a->channels_in + in] *
                                       (double)weights[w + kw];
                sum += product;
                size += fabs(product);
            }
        }
    }
    if (a->residual) {
        sum += (double)a->residual[offset];
        size += fabs((double)a->residual[offset]);
    }
    *bound = (terms + 4) * (double)FLT_EPSILON * size;
    return a->relu && sum < 0 ? 0 : sum;
}

static void check(const problem *p, const kernel_set *set, uint64_t seed)
{
    const zn_conv_f32_args *a = &p->args;
    const float *dst = a->dst;
    for (int64_t row = 0; row < p->rows; row++) {
        for (int64_t x = 0; x < a->width_out; x++) {
            for (int64_t out = 0; out < a->channels_out; out++, dst++) {
                double bound;
                const double expected = reference(p, row, x, out, &bound);
                if (fabs((double)*dst - expected) <= bound) continue;
                print_error("%s, seed %llu, row %lld x %lld channel %lld: %.9g, not %.9g +- %.3g\n",
                            set->name, (unsigned long long)seed, (long long)row, (long long)x,
                            (long long)out, (double)*dst, expected, bound);
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
                problem p = make(&shapes[s], 2, shift, seed);
                set->kernels.conv_f32(&p.args, 0, p.rows);
                check(&p, set, seed);
                free_problem(&p);
            }
        }
    }
}

// Rows computed one by one, last first and in place of the residual, have the bits of one call.
ZN_TEST(bits_do_not_depend_on_rows)
{
    const shape s = {61, 19, 37, 3, 3, 1, 1, 1};
    enum { ROWS = 6 };
    FOR_EACH_SET(set)
    {
        problem whole = make(&s, ROWS, 0, 77), single = make(&s, ROWS, 3, 77);
        whole.args.residual = whole.residual.data;
        set->kernels.conv_f32(&whole.args, 0, ROWS);
        memcpy(single.dst.data, single.residual.data, single.dst.bytes);
        single.args.residual = single.dst.data;
        for (int64_t row = ROWS - 1; row >= 0; row--) {
            set->kernels.conv_f32(&single.args, row, row + 1);
        }
        assert_memory_equal(single.dst.data, whole.dst.data, whole.dst.bytes);
        free_problem(&whole);
        free_problem(&single);
    }
}

// The last columns of a picture, as a picture of their own, have the bits they had in it, but for
// the first column, which lost its neighbour.
ZN_TEST(bits_do_not_depend_on_width)
{
    const shape s = {61, 19, 37, 3, 3, 1, 1, 1};
    FOR_EACH_SET(set)
    {
        for (int width = 2; width < s.width_in; width += 7) {
            const shape narrow = {width, 19, 37, 3, 3, 1, 1, 1};
            const int first = s.width_in - width;
            problem whole = make(&s, 1, 0, 78), part = make(&narrow, 1, 0, 79);
            for (int row = 0; row < s.kernel_h; row++) {
                memcpy((float *)part.src.data + row * width * s.channels_in,
                       whole.args.src + (row * s.width_in + first) * s.channels_in,
                       (size_t)(width * s.channels_in) * sizeof(float));
            }
            whole.args.residual = NULL;
            zn_conv_f32_args args = whole.args;
            args.src = part.src.data;
            args.dst = part.dst.data;
            args.width_in = args.width_out = width;
            set->kernels.conv_f32(&whole.args, 0, 1);
            set->kernels.conv_f32(&args, 0, 1);
            assert_memory_equal(args.dst + s.channels_out,
                                whole.args.dst + (first + 1) * s.channels_out,
                                (size_t)((width - 1) * s.channels_out) * sizeof(float));
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
            set->kernels.conv_f32(&p.args, 0, 2);
            if (set == lowest) memcpy(first.dst.data, p.dst.data, p.dst.bytes);
            assert_memory_equal(first.dst.data, p.dst.data, p.dst.bytes);
            free_problem(&p);
        }
        free_problem(&first);
    }
}

ZN_TEST(nan_and_signs)
{
    const shape one = {1, 1, 3, 1, 1, 1, 0, 0};
    FOR_EACH_SET(set)
    {
        problem p = make(&one, 1, 0, 1);
        const float values[] = {NAN, -2.0f, INFINITY};
        p.args.relu = true;
        p.args.residual = NULL;
        p.args.bias = NULL;
        *(float *)p.src.data = 1.0f;
        memcpy(p.packed.data, values, sizeof values);
        set->kernels.conv_f32(&p.args, 0, 1);
        assert_true(isnan(p.args.dst[0]));
        assert_true(p.args.dst[1] == 0.0f);
        assert_true(isinf(p.args.dst[2]));
        free_problem(&p);
    }
}

ZN_TEST(packed_sizes)
{
    size_t bytes = 1;
    assert_true(zn_conv_f32_packed_bytes(17, 5, 3, 2, &bytes));
    assert_int_equal(bytes, 32 * 5 * 3 * 2 * sizeof(float));
    assert_false(zn_conv_f32_packed_bytes(INT64_MAX, 1, 1, 1, &bytes));
    assert_false(zn_conv_f32_packed_bytes(1 << 20, INT64_MAX / 1024, 3, 3, &bytes));
}

static void bench_onednn(const shape *s, int64_t rows, int64_t width_out, const char *what)
{
    const zn_dnn_conv_desc desc = {
        .rows_in = (rows - 1) * s->stride + s->kernel_h,
        .width_in = s->width_in,
        .channels_in = s->channels_in,
        .rows_out = rows,
        .width_out = width_out,
        .channels_out = s->channels_out,
        .kernel_h = s->kernel_h,
        .kernel_w = s->kernel_w,
        .stride = s->stride,
        .pad_left = s->pad_left,
        .pad_right = s->pad_right,
        .src = ZN_F32,
        .weights = ZN_F32,
        .dst = ZN_F32,
        .bias = true,
        .src_scale = 1,
        .dst_scale = 1,
    };
    bench_onednn_conv(&desc, what);
}

static void bench(void)
{
    static const shape cases[] = {
        {64, 64, 64, 3, 3, 1, 1, 1},  {256, 64, 64, 3, 3, 1, 1, 1}, {256, 64, 64, 1, 1, 1, 0, 0},
        {256, 64, 3, 3, 3, 1, 1, 1},  {256, 3, 64, 3, 3, 1, 1, 1},  {64, 256, 256, 3, 3, 1, 1, 1},
        {256, 64, 64, 3, 3, 2, 1, 1}, {64, 64, 16, 3, 3, 1, 1, 1},
    };
    enum { ROWS = 16 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const shape *s = &cases[i];
        problem p = make(s, ROWS, 0, 1);
        char what[64];
        snprintf(what, sizeof what, "%d wide, %d to %d, %dx%d, stride %d", s->width_in,
                 s->channels_in, s->channels_out, s->kernel_h, s->kernel_w, s->stride);
        FOR_EACH_SET(set)
        {
            bench_clock clock = {0};
            while (bench_again(&clock)) set->kernels.conv_f32(&p.args, 0, ROWS);
            const double flops = 2.0 * ROWS * (double)p.args.width_out * s->channels_out *
                                 s->channels_in * s->kernel_h * s->kernel_w;
            bench_result(&clock, set->name, flops, "GFLOP/s", "%s", what);
        }
        bench_onednn(s, ROWS, p.args.width_out, what);
        free_problem(&p);
    }
}

KERNEL_GROUP(conv_f32, bench)
