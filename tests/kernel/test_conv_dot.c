// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_dot: the scalar version against sums over the unpacked weights, this CPU's version against
// the scalar one, and the promise of the same bits for any rows, width, and memory that wraps.
#include "src/base/memory.h"
#include "src/kernel/conv/conv_dot.h"
#include "tests/kernel/fenced.h"

#include <float.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct shape {
    int width_in, channels_in, channels_out, kernel_h, kernel_w, stride, pad_left, pad_right;
} shape;

// Widths around one tile of 16 pixels and two; channels around one and two tiles.
static const shape shapes[] = {
    {1, 64, 64, 3, 3, 1, 1, 1},   {5, 64, 64, 3, 3, 1, 1, 1},  {15, 64, 3, 3, 3, 1, 1, 1},
    {16, 64, 16, 3, 3, 1, 1, 1},  {17, 64, 17, 3, 3, 1, 1, 1}, {31, 64, 64, 3, 3, 1, 1, 1},
    {33, 128, 32, 3, 3, 1, 1, 1}, {49, 64, 48, 1, 1, 1, 0, 0}, {40, 64, 64, 3, 3, 2, 1, 1},
    {64, 64, 64, 3, 3, 1, 1, 1},  {37, 64, 33, 5, 7, 1, 3, 3}, {64, 64, 64, 2, 2, 2, 0, 0},
    {35, 192, 20, 3, 1, 1, 0, 0}, {23, 64, 5, 1, 3, 1, 2, 2},  {81, 128, 40, 3, 3, 1, 1, 1},
};
static const zn_type sources[] = {ZN_BF16, ZN_U8, ZN_S8};
static const zn_type results[] = {ZN_F32, ZN_BF16, ZN_U8, ZN_S8};
enum { ROWS = 5, NO_RESIDUAL = COUNT(results) };

typedef struct problem {
    zn_conv_dot_args args;
    fenced src, packed, scale, bias, residual, mask, dst;
    void *dense;
    zn_type weights;
} problem;

static void fill(zn_type type, void *dst, size_t count, float size, zn_random *random)
{
    for (size_t i = 0; i < count; i++) {
        const float value = zn_type_size(type) == 1 ? (float)zn_random_below(random, 256) - 128
                                                    : size * zn_random_normal(random);
        zn_type_store(type, dst, i, type == ZN_U8 ? value + 128 : value);
    }
}

static size_t bytes_of(zn_type type, int64_t count)
{
    return (size_t)count * zn_type_size(type);
}

static problem make(const shape *s, zn_type src, int result, int residual, uint64_t seed)
{
    zn_random random = {.seed = seed};
    const int64_t width_out = (s->width_in + s->pad_left + s->pad_right - s->kernel_w) / s->stride +
                              1;
    const int64_t rows_in = (ROWS - 1) * s->stride + s->kernel_h;
    const int64_t weights = (int64_t)s->channels_out * s->channels_in * s->kernel_h * s->kernel_w;
    const int64_t outputs = ROWS * width_out * s->channels_out;
    const size_t padded = zn_round_up((size_t)s->channels_out, ZN_CONV_DOT_BLOCK);
    const zn_type dst = results[result];
    const zn_type added = residual == NO_RESIDUAL ? ZN_F32 : results[residual];
    problem p = {.weights = src == ZN_BF16 ? ZN_BF16 : ZN_S8};
    size_t packed;
    assert_true(zn_conv_dot_packed_bytes(p.weights, s->channels_out, s->channels_in, s->kernel_h,
                                         s->kernel_w, &packed));
    p.src = fenced_make(bytes_of(src, rows_in * s->width_in * s->channels_in), 0);
    p.packed = fenced_make(packed, 0);
    p.scale = fenced_make(padded * sizeof(float), 0);
    p.bias = fenced_make(padded * sizeof(float), 0);
    p.residual = fenced_make(bytes_of(added, outputs), 0);
    p.mask = fenced_make(bytes_of(dst, outputs), 0);
    p.dst = fenced_make(bytes_of(dst, outputs), 0);
    p.dense = zn_alloc(bytes_of(p.weights, weights));
    assert_non_null(p.dense);
    fill(src, p.src.data, (size_t)(rows_in * s->width_in * s->channels_in), 1, &random);
    fill(p.weights, p.dense, (size_t)weights, 0.1f, &random);
    fill(added, p.residual.data, (size_t)outputs, 1, &random);
    fill(dst, p.mask.data, (size_t)outputs, 1, &random);
    for (size_t i = 0; i < padded; i++) {
        ((float *)p.scale.data)[i] = p.weights == ZN_S8 ? 1e-3f + 1e-5f * (float)i : 20;
        ((float *)p.bias.data)[i] = zn_random_normal(&random);
    }
    zn_conv_dot_pack(p.weights, p.dense, s->channels_out, s->channels_in, s->kernel_h, s->kernel_w,
                     p.packed.data);
    p.args = (zn_conv_dot_args){
        .src = p.src.data,
        .src_type = src,
        .src_wrap = INT64_MAX,
        .width_in = s->width_in,
        .channels_in = s->channels_in,
        .packed = p.packed.data,
        .scale = p.scale.data,
        .bias = p.bias.data,
        .residual = residual == NO_RESIDUAL ? NULL : p.residual.data,
        .residual_type = added,
        .residual_scale = zn_type_size(added) == 1 ? 0.02f : 1,
        .dst = p.dst.data,
        .dst_row = width_out,
        .dst_step = 1,
        .dst_type = dst,
        .width_out = width_out,
        .x_end = width_out,
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
    fenced *all[] = {&p->src, &p->packed, &p->scale, &p->bias, &p->residual, &p->mask, &p->dst};
    fenced_close(all, COUNT(all));
    zn_free(p->dense);
}

static void run(zn_conv_dot_fn *version, const zn_conv_dot_args *args, int64_t begin, int64_t end)
{
    const size_t bytes = zn_round_up(zn_conv_dot_scratch(args, end - begin), ZN_ALIGN);
    fenced scratch = fenced_make(bytes, 0);
    version(args, begin, end, scratch.data);
    assert_true(fenced_intact(&scratch));
    fenced_free(&scratch);
}

// One output in double from the unpacked weights, and how far f32 sums may be from it.
static double reference(const problem *p, int64_t row, int64_t x, int64_t out, double *bound)
{
    const zn_conv_dot_args *a = &p->args;
    const size_t at = (size_t)((row * a->width_out + x) * a->channels_out + out);
    double sum = 0, size = 0, terms = 0;
    for (int64_t ky = 0; ky < a->kernel_h; ky++) {
        for (int64_t kx = 0; kx < a->kernel_w; kx++) {
            const int64_t column = x * a->stride + kx - a->pad_left;
            if (column < 0 || column >= a->width_in) continue;
            const int64_t from = (row * a->stride + ky) * a->width_in + column;
            for (int64_t in = 0; in < a->channels_in; in++, terms++) {
                const int64_t w = ((out * a->channels_in + in) * a->kernel_h + ky) * a->kernel_w;
                const double product = (double)zn_type_load(a->src_type, a->src,
                                                            (size_t)(from * a->channels_in + in)) *
                                       (double)zn_type_load(p->weights, p->dense, (size_t)(w + kx));
                sum += product;
                size += fabs(product);
            }
        }
    }
    double t = sum * (double)a->scale[out] + (double)a->bias[out];
    size = size * (double)a->scale[out] + fabs((double)a->bias[out]);
    if (a->residual) {
        const double r = (double)a->residual_scale *
                         (double)zn_type_load(a->residual_type, a->residual, at);
        t += r;
        size += fabs(r);
    }
    *bound = (p->weights == ZN_S8 ? 4 : terms + 4) * (double)FLT_EPSILON * size;
    if (a->mask && !(zn_type_load(a->dst_type, a->mask, at) > 0)) return *bound = 0;
    return a->relu && t < 0 ? 0 : t;
}

// What a stored value may be off: half a unit of its type beyond the bound.
static double store_error(const zn_conv_dot_args *a, double value)
{
    if (zn_type_size(a->dst_type) == 1) return 0.5001;
    return a->dst_type == ZN_BF16 ? fabs(value) / 255 : 0;
}

static double clip(const zn_conv_dot_args *a, double value)
{
    const double low = a->dst_type == ZN_U8 ? 0 : -128, high = a->dst_type == ZN_U8 ? 255 : 127;
    if (zn_type_size(a->dst_type) != 1) return value;
    return fmin(fmax(value, low), high);
}

static void check(const problem *p, const char *what, uint64_t seed)
{
    const zn_conv_dot_args *a = &p->args;
    for (int64_t i = 0; i < ROWS * a->width_out * a->channels_out; i++) {
        if (!zn_test_takes_one_in(7, (uint64_t)i)) continue; // still meets each column and channel
        const int64_t out = i % a->channels_out, x = i / a->channels_out % a->width_out;
        double bound;
        const double expected = clip(
            a, reference(p, i / a->channels_out / a->width_out, x, out, &bound));
        const double stored = (double)(zn_type_load(a->dst_type, a->dst, (size_t)i));
        bound += store_error(a, expected) + 1e-6;
        if (fabs(stored - expected) <= bound) continue;
        print_error("%s, seed %llu, x %lld channel %lld: %.9g, not %.9g +- %.3g\n", what,
                    (unsigned long long)seed, (long long)x, (long long)out, stored, expected,
                    bound);
        fail();
    }
}

// Suites that follow a full one take each shape and each source, but not each with each,
// except of the version of this CPU against double.
static bool is_left_out(size_t s, size_t t)
{
    return !zn_test_takes_one_in(COUNT(sources), s + t) || !zn_test_takes(s);
}

// Every shape with every source; results and residuals take turns, all pairs of them are met.
ZN_TEST(outputs_are_near_double)
{
    zn_kernels kernels;
    zn_kernels_init(&kernels, zn_cpu_detect().flags);
    uint64_t seed = 0;
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (size_t t = 0; t < COUNT(sources); t++) {
            zn_conv_dot_fn *version = zn_conv_dot_for(&kernels, sources[t]);
            for (int turn = 0; turn < 2; turn++, seed++) {
                if (!zn_test_takes(seed)) continue;
                const int pair = (int)(seed * 3 % (COUNT(results) * (NO_RESIDUAL + 1)));
                problem p = make(&shapes[s], sources[t], pair % (int)COUNT(results),
                                 pair / (int)COUNT(results), seed);
                const bool scalar = turn == 0 && !is_left_out(s, t);
                if (scalar) run(zn_conv_dot_reference, &p.args, 0, ROWS);
                if (scalar) check(&p, "scalar", seed);
                if (version) run(version, &p.args, 0, ROWS);
                if (version) check(&p, "this CPU", seed);
                free_problem(&p);
            }
        }
    }
}

// A mask goes with bf16 sources and floating results, with any residual of those.
ZN_TEST(masks)
{
    zn_kernels kernels;
    zn_kernels_init(&kernels, zn_cpu_detect().flags);
    zn_conv_dot_fn *version = zn_conv_dot_for(&kernels, ZN_BF16);
    static const int residuals[] = {0, 1, NO_RESIDUAL};
    uint64_t seed = 500;
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (size_t r = 0; r < COUNT(residuals); r++, seed++) {
            if (!zn_test_takes(seed)) continue;
            problem p = make(&shapes[s], ZN_BF16, (int)(seed % 2), residuals[r], seed);
            p.args.mask = p.mask.data;
            p.args.relu = false;
            if (r == 0) run(zn_conv_dot_reference, &p.args, 0, ROWS);
            if (r == 0) check(&p, "scalar, masked", seed);
            if (version) run(version, &p.args, 0, ROWS);
            if (version) check(&p, "this CPU, masked", seed);
            free_problem(&p);
        }
    }
}

// Rows one by one, last first, have the bits of one call.
ZN_TEST(bits_do_not_depend_on_rows)
{
    zn_kernels kernels;
    zn_kernels_init(&kernels, zn_cpu_detect().flags);
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (size_t t = 0; t < COUNT(sources); t++) {
            if (is_left_out(s, t)) continue;
            zn_conv_dot_fn *version = zn_conv_dot_for(&kernels, sources[t]);
            if (!version) continue;
            problem whole = make(&shapes[s], sources[t], 0, 1, s);
            problem single = make(&shapes[s], sources[t], 0, 1, s);
            run(version, &whole.args, 0, ROWS);
            for (int64_t row = ROWS - 1; row >= 0; row--) run(version, &single.args, row, row + 1);
            assert_memory_equal(single.dst.data, whole.dst.data, whole.dst.bytes);
            free_problem(&whole);
            free_problem(&single);
        }
    }
}

// Columns in parts have the bits of one call.
ZN_TEST(bits_do_not_depend_on_columns)
{
    zn_kernels kernels;
    zn_kernels_init(&kernels, zn_cpu_detect().flags);
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (size_t t = 0; t < COUNT(sources); t++) {
            if (is_left_out(s, t)) continue;
            zn_conv_dot_fn *picked = zn_conv_dot_for(&kernels, sources[t]);
            zn_conv_dot_fn *version = picked ? picked : zn_conv_dot_reference;
            problem whole = make(&shapes[s], sources[t], 1, 1, s);
            problem parts = make(&shapes[s], sources[t], 1, 1, s);
            run(version, &whole.args, 0, ROWS);
            const int64_t width = whole.args.width_out, cut = width * 2 / 3;
            const int64_t cuts[] = {0, cut, cut + (width > cut + 1), width};
            for (int i = 2; i >= 0; i--) {
                parts.args.x_begin = cuts[i];
                parts.args.x_end = cuts[i + 1];
                run(version, &parts.args, 0, ROWS);
            }
            assert_memory_equal(parts.dst.data, whole.dst.data, whole.dst.bytes);
            free_problem(&whole);
            free_problem(&parts);
        }
    }
}

// The rows of a source that begin in the middle of a ring and go on at its start.
ZN_TEST(a_source_may_wrap)
{
    zn_kernels kernels;
    zn_kernels_init(&kernels, zn_cpu_detect().flags);
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (size_t t = 0; t < COUNT(sources); t++) {
            if (is_left_out(s, t)) continue;
            zn_conv_dot_fn *picked = zn_conv_dot_for(&kernels, sources[t]);
            zn_conv_dot_fn *version = picked ? picked : zn_conv_dot_reference;
            problem p = make(&shapes[s], sources[t], 0, 0, s);
            run(version, &p.args, 0, ROWS);
            fenced before = fenced_make(p.dst.bytes, 0);
            memcpy(before.data, p.dst.data, p.dst.bytes);
            const size_t row = bytes_of(sources[t], shapes[s].width_in * shapes[s].channels_in);
            const size_t rows = p.src.bytes / row;
            fenced ring = fenced_make(p.src.bytes, 0);
            for (size_t first = 1; first < rows; first++) {
                if (!zn_test_takes_one_in(4, first)) continue;
                for (size_t r = 0; r < rows; r++)
                    memcpy((uint8_t *)ring.data + (first + r) % rows * row,
                           (uint8_t *)p.src.data + r * row, row);
                p.args.src = (uint8_t *)ring.data + first * row;
                p.args.src_wrap = (int64_t)(rows - first);
                p.args.src_ring = rows * row;
                run(version, &p.args, 0, ROWS);
                assert_memory_equal(before.data, p.dst.data, p.dst.bytes);
            }
            fenced_free(&ring);
            fenced_free(&before);
            free_problem(&p);
        }
    }
}

ZN_TEST(packed_sizes)
{
    size_t bytes = 1;
    assert_true(zn_conv_dot_packed_bytes(ZN_BF16, 17, 64, 3, 2, &bytes));
    assert_int_equal(bytes, 32 * 64 * 3 * 2 * 2);
    assert_true(zn_conv_dot_packed_bytes(ZN_S8, 3, 64, 3, 3, &bytes));
    assert_int_equal(bytes, 16 * 64 * 9);
    assert_false(zn_conv_dot_packed_bytes(ZN_S8, 3, 32, 3, 3, &bytes));
    assert_false(zn_conv_dot_packed_bytes(ZN_BF16, INT64_MAX, 64, 3, 3, &bytes));
}

// What stands for the 8-bit and bf16 convolution elsewhere: there is no scalar version.
static void bench_onednn(const shape *s, const problem *p, zn_type type, const char *what)
{
    const zn_dnn_conv_desc desc = {
        .rows_in = (ROWS - 2) * s->stride + s->kernel_h,
        .width_in = s->width_in,
        .channels_in = s->channels_in,
        .rows_out = ROWS - 1,
        .width_out = p->args.width_out,
        .channels_out = s->channels_out,
        .kernel_h = s->kernel_h,
        .kernel_w = s->kernel_w,
        .stride = s->stride,
        .pad_left = s->pad_left,
        .pad_right = s->pad_right,
        .src = type,
        .weights = type == ZN_BF16 ? ZN_BF16 : ZN_S8,
        .dst = type,
        .bias = true,
        .src_scale = 1,
        .dst_scale = 1,
    };
    bench_onednn_conv(&desc, what);
}

static void bench(void)
{
    static const shape cases[] = {
        {64, 64, 64, 3, 3, 1, 1, 1}, {512, 64, 64, 3, 3, 1, 1, 1}, {512, 64, 64, 1, 1, 1, 0, 0},
        {512, 64, 3, 3, 3, 1, 1, 1}, {512, 64, 64, 3, 3, 2, 1, 1}, {64, 128, 64, 3, 3, 1, 1, 1},
    };
    zn_kernels kernels;
    zn_kernels_init(&kernels, zn_cpu_detect().flags);
    for (size_t t = 0; t < 2; t++) {
        zn_conv_dot_fn *version = zn_conv_dot_for(&kernels, sources[t]);
        for (size_t i = 0; version && i < COUNT(cases); i++) {
            const shape *s = &cases[i];
            problem p = make(s, sources[t], t ? 2 : 1, NO_RESIDUAL, 1);
            char what[64];
            snprintf(what, sizeof what, "%s %d wide, %d to %d, %dx%d, stride %d",
                     zn_type_name(sources[t]), s->width_in, s->channels_in, s->channels_out,
                     s->kernel_h, s->kernel_w, s->stride);
            bench_clock clock = {0};
            while (bench_again(&clock)) run(version, &p.args, 0, ROWS - 1);
            const double flops = 2.0 * (ROWS - 1) * (double)p.args.width_out * s->channels_out *
                                 s->channels_in * s->kernel_h * s->kernel_w;
            bench_result(&clock, kernels.conv_dot_name, flops, "GFLOP/s", "%s", what);
            bench_onednn(s, &p, sources[t], what);
            free_problem(&p);
        }
    }
}

KERNEL_GROUP(conv_dot, bench)
