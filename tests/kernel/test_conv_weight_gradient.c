// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_weight_gradient: the specification and every version against sums in double written in
// another order, the promise to add, that a call leaves nothing behind in scratch that the next one
// finds, and that parts together have the bits of a whole.
#include "src/base/memory.h"
#include "src/kernel/conv/conv_weight_gradient.h"
#include "tests/kernel/fenced.h"

#include <float.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct shape {
    int rows, width_in, channels_in, channels_out, kernel_h, kernel_w, stride, pad_left, pad_right;
} shape;

// Widths around the 32 pixels that a tile adds up, channels around one and two tiles, and so few
// that taps are folded into them; more rows than go together; all that is folded also with strides.
static const shape shapes[] = {
    {3, 5, 3, 64, 3, 3, 1, 1, 1},   {2, 33, 64, 3, 3, 3, 1, 1, 1},  {5, 32, 16, 16, 3, 3, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 0, 0},    {4, 31, 17, 33, 3, 3, 1, 1, 1}, {9, 64, 64, 64, 3, 3, 1, 1, 1},
    {3, 70, 33, 20, 1, 1, 1, 0, 0}, {4, 40, 64, 64, 3, 3, 2, 1, 1}, {3, 65, 16, 32, 5, 7, 1, 3, 3},
    {2, 64, 32, 32, 2, 2, 2, 0, 0}, {2, 97, 3, 3, 3, 3, 1, 1, 1},   {3, 23, 5, 7, 1, 3, 1, 2, 2},
    {4, 37, 4, 64, 3, 3, 2, 1, 0},  {18, 3, 48, 48, 3, 3, 1, 1, 1}, {2, 16, 128, 96, 3, 3, 1, 1, 1},
    {2, 130, 20, 4, 3, 5, 1, 0, 6}, {3, 29, 64, 3, 3, 3, 2, 1, 1},  {2, 64, 1, 64, 8, 8, 8, 0, 0},
    {40, 34, 16, 3, 3, 3, 1, 1, 1}, {2, 9, 64, 16, 3, 3, 3, 1, 1},  {2, 4, 16, 16, 3, 3, 1, 40, 40},
    {2, 40, 16, 16, 1, 3, 1, 0, 0}, {33, 10, 3, 5, 3, 3, 1, 1, 1},  {2, 300, 32, 64, 3, 3, 1, 1, 1},
};
static const zn_type types[] = {ZN_F32, ZN_BF16};

typedef struct problem {
    zn_conv_weight_gradient_args args;
    fenced src, dy, dw, db;
} problem;

static void fill(zn_type type, fenced *dst, zn_random *random)
{
    const size_t count = dst->bytes / zn_type_size(type);
    for (size_t i = 0; i < count; i++) zn_type_store(type, dst->data, i, zn_random_normal(random));
}

static problem make(const shape *s, zn_type type, uint64_t seed)
{
    zn_random random = {.seed = seed};
    const int64_t width_out = (s->width_in + s->pad_left + s->pad_right - s->kernel_w) / s->stride +
                              1;
    const int64_t rows_in = (int64_t)(s->rows - 1) * s->stride + s->kernel_h;
    const size_t size = zn_type_size(type), weights = (size_t)s->channels_in * (size_t)s->kernel_h *
                                                      (size_t)s->kernel_w * (size_t)s->channels_out;
    problem p;
    p.src = fenced_make((size_t)(rows_in * s->width_in * s->channels_in) * size, 0);
    p.dy = fenced_make((size_t)(s->rows * width_out * s->channels_out) * size, 0);
    p.dw = fenced_make(weights * sizeof(float), 0);
    p.db = fenced_make((size_t)s->channels_out * sizeof(float), 0);
    fill(type, &p.src, &random);
    fill(type, &p.dy, &random);
    fill(ZN_F32, &p.dw, &random);
    fill(ZN_F32, &p.db, &random);
    p.args = (zn_conv_weight_gradient_args){
        .type = type,
        .src = p.src.data,
        .dy = p.dy.data,
        .rows = s->rows,
        .width_in = s->width_in,
        .channels_in = s->channels_in,
        .width_out = width_out,
        .channels_out = s->channels_out,
        .kernel_h = s->kernel_h,
        .kernel_w = s->kernel_w,
        .stride = s->stride,
        .pad_left = s->pad_left,
        .dw = p.dw.data,
        .db = p.db.data,
    };
    return p;
}

static void free_problem(problem *p)
{
    fenced *all[] = {&p->src, &p->dy, &p->dw, &p->db};
    fenced_close(all, COUNT(all));
}

// In scratch full of NaN: whatever a version reads there it has written.
static void run(zn_conv_weight_gradient_fn *version, const zn_conv_weight_gradient_args *args)
{
    const size_t bytes = zn_round_up(zn_conv_weight_gradient_scratch(args), ZN_ALIGN);
    fenced scratch = fenced_make(bytes, 0);
    memset(scratch.data, 0xff, bytes);
    version(args, scratch.data);
    assert_true(fenced_intact(&scratch));
    fenced_free(&scratch);
}

// Sums and sums of absolute products, in double, of all weights and then all biases.
typedef struct reference {
    double *sum, *size;
    size_t count;
} reference;

static void add_pixel(const problem *p, reference *r, int64_t row, int64_t x)
{
    const zn_conv_weight_gradient_args *a = &p->args;
    const int64_t taps = (int64_t)a->kernel_h * a->kernel_w, weights = taps * a->channels_in;
    for (int64_t o = 0; o < a->channels_out; o++) {
        const double dy = (double)zn_type_load(
            a->type, a->dy, (size_t)((row * a->width_out + x) * a->channels_out + o));
        r->sum[a->channels_out * weights + o] += dy;
        r->size[a->channels_out * weights + o] += fabs(dy);
        for (int64_t t = 0; t < taps; t++) {
            const int64_t column = x * a->stride + t % a->kernel_w - a->pad_left;
            const int64_t from = (row * a->stride + t / a->kernel_w) * a->width_in + column;
            if (column < 0 || column >= a->width_in) continue;
            for (int64_t i = 0; i < a->channels_in; i++) {
                const double product = dy *
                                       (double)zn_type_load(a->type, a->src,
                                                            (size_t)(from * a->channels_in + i));
                r->sum[o * weights + i * taps + t] += product;
                r->size[o * weights + i * taps + t] += fabs(product);
            }
        }
    }
}

static reference reference_make(const problem *p)
{
    reference r = {.count = (p->dw.bytes + p->db.bytes) / sizeof(float)};
    r.sum = zn_alloc_zero(r.count * sizeof *r.sum);
    r.size = zn_alloc_zero(r.count * sizeof *r.size);
    assert_true(r.sum && r.size);
    for (int64_t i = 0; i < p->args.rows * p->args.width_out; i++)
        add_pixel(p, &r, i / p->args.width_out, i % p->args.width_out);
    return r;
}

static void reference_free(reference *r)
{
    zn_free(r->sum);
    zn_free(r->size);
}

// A sum of n f32 products, in any order, is at most n roundings off.
static void check(const problem *p, const reference *r, const float *before, const char *what)
{
    const double terms = (double)(p->args.rows * p->args.width_out) + 2;
    const size_t weights = p->dw.bytes / sizeof(float);
    for (size_t i = 0; i < r->count; i++) {
        const float *got = i < weights ? p->args.dw + i : p->args.db + (i - weights);
        const double old = before ? (double)before[i] : 0, expected = r->sum[i] + old;
        const double bound = terms * (double)FLT_EPSILON * (r->size[i] + fabs(old));
        if (fabs((double)*got - expected) <= bound) continue;
        print_error("%s: %zu of %zu is %.9g, not %.9g +- %.3g\n", what, i, weights, (double)*got,
                    expected, bound);
        fail();
    }
}

static zn_conv_weight_gradient_fn *version_of(const kernel_set *set, zn_type type)
{
    const zn_kernels *k = &set->kernels;
    return type == ZN_BF16 ? k->conv_weight_gradient_bf16 : k->conv_weight_gradient;
}

static void check_shape(const shape *s, zn_type type, uint64_t seed)
{
    problem p = make(s, type, seed);
    reference r = reference_make(&p);
    char what[200];
    FOR_EACH_SET(set)
    {
        snprintf(what, sizeof what,
                 "%s %s: %dx%d, %d to %d channels, %dx%d, stride %d, padding %d and %d", set->name,
                 zn_type_name(type), s->rows, s->width_in, s->channels_in, s->channels_out,
                 s->kernel_h, s->kernel_w, s->stride, s->pad_left, s->pad_right);
        run(version_of(set, type), &p.args);
        check(&p, &r, NULL, what);
    }
    free_problem(&p);
    reference_free(&r);
}

ZN_TEST(versions_are_near_double)
{
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (size_t t = 0; t < COUNT(types); t++) check_shape(&shapes[s], types[t], s);
    }
}

ZN_TEST(random_shapes)
{
    zn_random random = {.seed = 7};
    for (uint64_t i = 0; i < 60; i++) {
        shape s = {.rows = 1 + (int)zn_random_below(&random, 6),
                   .channels_in = 1 + (int)zn_random_below(&random, 40),
                   .channels_out = 1 + (int)zn_random_below(&random, 40),
                   .kernel_h = 1 + (int)zn_random_below(&random, 4),
                   .kernel_w = 1 + (int)zn_random_below(&random, 4),
                   .stride = 1 + (int)zn_random_below(&random, 3)};
        s.pad_left = (int)zn_random_below(&random, 4);
        s.pad_right = (int)zn_random_below(&random, 4);
        s.width_in = s.kernel_w + (int)zn_random_below(&random, 70);
        check_shape(&s, types[i % COUNT(types)], i);
    }
}

ZN_TEST(the_specification)
{
    for (size_t s = 0; s < 4; s++) {
        for (size_t t = 0; t < COUNT(types); t++) {
            problem p = make(&shapes[s], types[t], s);
            reference r = reference_make(&p);
            run(zn_conv_weight_gradient_reference, &p.args);
            check(&p, &r, NULL, "specification");
            free_problem(&p);
            reference_free(&r);
        }
    }
}

// With `add`; and without a bias nothing is written there (db is fenced, and dw alone compared).
ZN_TEST(sums_are_added)
{
    for (size_t s = 0; s < COUNT(shapes); s += 3) {
        for (size_t t = 0; t < COUNT(types); t++) {
            FOR_EACH_SET(set)
            {
                problem p = make(&shapes[s], types[t], s);
                reference r = reference_make(&p);
                float *before = zn_alloc(r.count * sizeof *before);
                assert_non_null(before);
                memcpy(before, p.dw.data, p.dw.bytes);
                memcpy(before + p.dw.bytes / sizeof(float), p.db.data, p.db.bytes);
                p.args.add = true;
                run(version_of(set, types[t]), &p.args);
                check(&p, &r, before, set->name);
                p.args.add = false;
                p.args.db = NULL;
                run(version_of(set, types[t]), &p.args);
                r.count = p.dw.bytes / sizeof(float);
                check(&p, &r, NULL, set->name);
                zn_free(before);
                free_problem(&p);
                reference_free(&r);
            }
        }
    }
}

// Dw and db are filled with what a part must not leave, then made by the parts, the last one first.
static void check_parts(const shape *s, zn_type type, const kernel_set *set, int parts)
{
    problem whole = make(s, type, 5), shared = make(s, type, 5);
    zn_conv_weight_gradient_fn *version = version_of(set, type);
    run(version, &whole.args);
    memset(shared.dw.data, 0xff, shared.dw.bytes);
    memset(shared.db.data, 0xff, shared.db.bytes);
    shared.args.parts = parts;
    for (shared.args.part = parts - 1; shared.args.part >= 0; shared.args.part--)
        run(version, &shared.args);
    assert_memory_equal(whole.dw.data, shared.dw.data, whole.dw.bytes);
    assert_memory_equal(whole.db.data, shared.db.data, whole.db.bytes);
    free_problem(&whole);
    free_problem(&shared);
}

ZN_TEST(parts_have_the_same_bits)
{
    static const int parts[] = {1, 2, 3, 4, 7, 40};
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (size_t t = 0; t < COUNT(types); t++) {
            FOR_EACH_SET(set)
            check_parts(&shapes[s], types[t], set, parts[(s + t) % COUNT(parts)]);
        }
    }
}

static void bench_version(const shape *s, zn_type type, const kernel_set *set)
{
    problem p = make(s, type, 1);
    void *scratch = zn_alloc(zn_conv_weight_gradient_scratch(&p.args));
    bench_clock clock = {0};
    while (bench_again(&clock)) version_of(set, type)(&p.args, scratch);
    const double flops = 2.0 * s->rows * (double)p.args.width_out * s->channels_out *
                         s->channels_in * s->kernel_h * s->kernel_w;
    bench_result(&clock, set->name, flops, "GFLOP/s", "%s %dx%d, %d to %d, %dx%d, stride %d",
                 zn_type_name(type), s->rows, s->width_in, s->channels_in, s->channels_out,
                 s->kernel_h, s->kernel_w, s->stride);
    zn_free(scratch);
    free_problem(&p);
}

static void bench(void)
{
    static const shape cases[] = {
        {64, 64, 64, 64, 3, 3, 1, 1, 1},  {32, 32, 64, 64, 3, 3, 1, 1, 1},
        {128, 128, 3, 64, 3, 3, 1, 1, 1}, {128, 128, 64, 3, 3, 3, 1, 1, 1},
        {64, 128, 64, 64, 3, 3, 2, 1, 1}, {64, 64, 128, 128, 3, 3, 1, 1, 1},
        {16, 16, 4, 64, 3, 3, 1, 1, 1},
    };
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < COUNT(types) * COUNT(cases); i++)
            bench_version(&cases[i % COUNT(cases)], types[i / COUNT(cases)], set);
    }
}

KERNEL_GROUP(conv_weight_gradient, bench)
