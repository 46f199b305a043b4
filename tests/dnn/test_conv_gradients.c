// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's gradients of convolutions against sums in double. Skipped in builds without oneDNN; a
// type that this CPU's oneDNN does not have is left out.
#include "src/base/memory.h"
#include "src/base/random.h"
#include "src/dnn/dnn.h"
#include "tests/testing.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct shape {
    int rows_out, width_in, channels_in, channels_out, kernel, stride, pad;
} shape;

static const shape shapes[] = {
    {5, 17, 16, 16, 3, 1, 1}, {8, 32, 64, 64, 3, 1, 1}, {4, 20, 64, 32, 3, 2, 1},
    {3, 33, 3, 64, 3, 1, 1},  {6, 19, 64, 3, 3, 1, 1},  {4, 16, 32, 48, 1, 1, 0},
    {2, 40, 64, 64, 2, 2, 0},
};

typedef struct problem {
    zn_dnn_gradient_desc desc;
    size_t src_count, dy_count, weight_count;
    void *src, *dy, *weights; // of desc.type
    double *sums, *sizes;     // expected, and the same sums of absolute products
    float *dw, *db;
    void *dx, *scratch;
} problem;

static void *make_random(zn_type type, size_t count, zn_random *random)
{
    void *data = zn_alloc(count * zn_type_size(type));
    assert_non_null(data);
    for (size_t i = 0; i < count; i++) zn_type_store(type, data, i, zn_random_normal(random));
    return data;
}

static problem make(const shape *s, zn_type type, zn_dnn_gradient_kind kind, uint64_t seed)
{
    zn_random random = {.seed = seed};
    problem p = {.desc = {.kind = kind,
                          .rows_in = (s->rows_out - 1) * s->stride + s->kernel,
                          .width_in = s->width_in,
                          .channels_in = s->channels_in,
                          .rows_out = s->rows_out,
                          .width_out = (s->width_in + 2 * s->pad - s->kernel) / s->stride + 1,
                          .channels_out = s->channels_out,
                          .kernel_h = s->kernel,
                          .kernel_w = s->kernel,
                          .stride = s->stride,
                          .pad_left = s->pad,
                          .type = type,
                          .dx = type,
                          .bias = kind == ZN_DNN_GRADIENT_WEIGHTS}};
    zn_dnn_gradient_desc *d = &p.desc;
    d->pad_right = (int)((d->width_out - 1) * s->stride + s->kernel - s->width_in) - s->pad;
    p.src_count = (size_t)(d->rows_in * d->width_in * d->channels_in);
    p.dy_count = (size_t)(d->rows_out * d->width_out * d->channels_out);
    p.weight_count = (size_t)(s->channels_out * s->channels_in * s->kernel * s->kernel);
    p.src = make_random(type, p.src_count, &random);
    p.dy = make_random(type, p.dy_count, &random);
    p.weights = make_random(type, p.weight_count, &random);
    p.dx = make_random(type, p.src_count, &random);
    p.dw = make_random(ZN_F32, p.weight_count, &random);
    p.db = make_random(ZN_F32, (size_t)s->channels_out, &random);
    const size_t count = (p.src_count > p.weight_count ? p.src_count : p.weight_count);
    p.sums = zn_alloc_zero(count * sizeof *p.sums);
    p.sizes = zn_alloc_zero(count * sizeof *p.sizes);
    assert_true(p.sums && p.sizes);
    return p;
}

static void free_problem(problem *p)
{
    void *all[] = {p->src, p->dy, p->weights, p->sums, p->sizes, p->dw, p->db, p->dx, p->scratch};
    for (size_t i = 0; i < COUNT(all); i++) zn_free(all[i]);
}

// Every product of the convolution, into the sum that it belongs to.
static void add_output(problem *p, int64_t row, int64_t x, int64_t o)
{
    const zn_dnn_gradient_desc *d = &p->desc;
    const double dy = (double)zn_type_load(
        d->type, p->dy, (size_t)((row * d->width_out + x) * d->channels_out + o));
    for (int64_t t = 0; t < (int64_t)d->kernel_h * d->kernel_w; t++) {
        const int64_t column = x * d->stride + t % d->kernel_w - d->pad_left;
        const int64_t line = row * d->stride + t / d->kernel_w;
        if (column < 0 || column >= d->width_in) continue;
        for (int64_t i = 0; i < d->channels_in; i++) {
            const size_t at = (size_t)((line * d->width_in + column) * d->channels_in + i);
            const size_t w = (size_t)((o * d->channels_in + i) * d->kernel_h * d->kernel_w + t);
            const bool data = d->kind == ZN_DNN_GRADIENT_DATA;
            const double other = data ? (double)zn_type_load(d->type, p->weights, w)
                                      : (double)zn_type_load(d->type, p->src, at);
            p->sums[data ? at : w] += dy * other;
            p->sizes[data ? at : w] += fabs(dy * other);
        }
    }
}

static void expect(problem *p)
{
    const zn_dnn_gradient_desc *d = &p->desc;
    for (int64_t i = 0; i < (int64_t)p->dy_count; i++)
        add_output(p, i / d->channels_out / d->width_out, i / d->channels_out % d->width_out,
                   i % d->channels_out);
}

static void near(double got, double expected, double bound, const char *what, size_t at)
{
    if (fabs(got - expected) <= bound) return;
    print_error("%s %zu is %.9g, not %.9g +- %.3g\n", what, at, got, expected, bound);
    fail();
}

// n terms: n roundings of f32, and one of the result's type.
static void check_data(const problem *p)
{
    const zn_dnn_gradient_desc *d = &p->desc;
    const double terms = (double)(d->channels_out * d->kernel_h * d->kernel_w);
    const double rounding = d->dx == ZN_BF16 ? 1.0 / 255 : 0;
    for (size_t i = 0; i < p->src_count; i++)
        near((double)zn_type_load(d->dx, p->dx, i), p->sums[i],
             terms * (double)FLT_EPSILON * p->sizes[i] + rounding * fabs(p->sums[i]), "dx", i);
}

static void check_weights(const problem *p)
{
    const zn_dnn_gradient_desc *d = &p->desc;
    const double terms = (double)(d->rows_out * d->width_out);
    for (size_t i = 0; i < p->weight_count; i++)
        near((double)p->dw[i], p->sums[i], terms * (double)FLT_EPSILON * p->sizes[i], "dw", i);
    for (int64_t o = 0; o < d->channels_out; o++) {
        double sum = 0, size = 0;
        for (int64_t x = 0; x < d->rows_out * d->width_out; x++) {
            const float dy = zn_type_load(d->type, p->dy, (size_t)(x * d->channels_out + o));
            sum += (double)dy;
            size += fabs((double)dy);
        }
        near((double)p->db[o], sum, terms * (double)FLT_EPSILON * size, "db", (size_t)o);
    }
}

// false: oneDNN has no such gradient here.
static bool check(zn_dnn *dnn, const shape *s, zn_type type, zn_dnn_gradient_kind kind)
{
    problem p = make(s, type, kind, (uint64_t)(s - shapes));
    zn_dnn_gradient *g = NULL;
    zn_error err = {0};
    const zenith_status status = zn_dnn_gradient_create(dnn, &p.desc, &g, &err);
    if (status == ZENITH_OK) {
        p.scratch = zn_alloc(zn_dnn_gradient_scratch(g));
        assert_non_null(p.scratch);
        assert_ptr_equal(strstr(zn_dnn_gradient_id(g), "onednn:"), zn_dnn_gradient_id(g));
        expect(&p);
        if (kind == ZN_DNN_GRADIENT_DATA) {
            zn_test_ok(zn_dnn_gradient_run_data(g, p.dy, p.weights, p.dx, p.scratch, &err), &err);
            check_data(&p);
        } else {
            zn_test_ok(zn_dnn_gradient_run_weights(g, p.src, p.dy, p.dw, p.db, p.scratch, &err),
                       &err);
            check_weights(&p);
        }
    } else {
        assert_int_equal(status, ZENITH_UNSUPPORTED);
        assert_true(err.text[0] != 0);
    }
    zn_dnn_gradient_free(g);
    free_problem(&p);
    return status == ZENITH_OK;
}

static zn_dnn *open_dnn(const zn_cpu *cpu)
{
    zn_dnn *dnn = NULL;
    zn_error err = {0};
    const zenith_status status = zn_dnn_create(cpu, &dnn, &err);
    if (status == ZENITH_UNSUPPORTED) skip();
    zn_test_ok(status, &err);
    return dnn;
}

ZN_TEST(gradients_are_near_double)
{
    const zn_cpu cpu = zn_cpu_detect();
    zn_dnn *dnn = open_dnn(&cpu);
    int found[2] = {0};
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (int kind = ZN_DNN_GRADIENT_DATA; kind <= ZN_DNN_GRADIENT_WEIGHTS; kind++) {
            found[0] += check(dnn, &shapes[s], ZN_F32, (zn_dnn_gradient_kind)kind);
            found[1] += check(dnn, &shapes[s], ZN_BF16, (zn_dnn_gradient_kind)kind);
        }
    }
    print_message("oneDNN has %d of %zu in f32, %d in bf16\n", found[0], 2 * COUNT(shapes),
                  found[1]);
    if (cpu.flags & ZN_CPU_AVX2) assert_true(found[0] > 0);
    if (zn_cpu_has(cpu.flags, ZN_CPU_AMX)) assert_true(found[1] > 0);
    zn_dnn_free(dnn);
}

ZN_TEST(what_there_is_not)
{
    const zn_cpu cpu = zn_cpu_detect();
    zn_dnn *dnn = open_dnn(&cpu);
    zn_dnn_gradient *g = NULL;
    zn_error err = {0};
    problem p = make(&shapes[0], ZN_F32, ZN_DNN_GRADIENT_DATA, 1);
    p.desc.type = ZN_U8;
    assert_int_equal(zn_dnn_gradient_create(dnn, &p.desc, &g, &err), ZENITH_UNSUPPORTED);
    p.desc.type = ZN_F32;
    p.desc.dx = ZN_BF16;
    assert_int_equal(zn_dnn_gradient_create(dnn, &p.desc, &g, &err), ZENITH_UNSUPPORTED);
    assert_null(g);
    free_problem(&p);
    zn_dnn_free(dnn);
}
