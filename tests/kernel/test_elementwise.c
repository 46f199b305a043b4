// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums and ReLU against loops over single numbers.
#include "src/kernel/pointwise/elementwise.h"
#include "tests/kernel/fenced.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 4099};

static float relu_of(float value)
{
    return value < 0 ? 0.0f : value;
}

// Random numbers with each kind of special one among them.
static fenced make(size_t n, size_t shift, zn_random *random)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-40f, -1e-40f};
    fenced f = fenced_make(n * sizeof(float), shift * sizeof(float));
    fill_normal(f.data, n, random);
    for (size_t i = 0; i < n; i += 5) {
        ((float *)f.data)[i] = special[zn_random_below(random, COUNT(special))];
    }
    return f;
}

// Equal bits, or both NaN: which of two NaN an addition returns is the compiler's choice.
static void same(const float *a, const float *b, size_t n, size_t shift, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        if ((isnan(a[i]) && isnan(b[i])) || memcmp(&a[i], &b[i], sizeof *a) == 0) continue;
        print_error("n %zu, shift %zu, seed %llu: element %zu is %g, not %g\n", n, shift,
                    (unsigned long long)seed, i, (double)a[i], (double)b[i]);
        fail();
    }
}

static void check(size_t n, size_t shift, bool relu, uint64_t seed)
{
    zn_random random = {.seed = seed};
    fenced a = make(n, shift, &random), b = make(n, 0, &random), dst = make(n, shift, &random);
    fenced expected = make(n, 0, &random);
    float *x = a.data, *y = b.data, *e = expected.data;
    for (size_t i = 0; i < n; i++) e[i] = relu ? relu_of(x[i] + y[i]) : x[i] + y[i];
    zn_add_f32(x, y, relu, dst.data, n);
    same(dst.data, e, n, shift, seed);
    for (size_t i = 0; i < n; i++) e[i] = relu_of(y[i]);
    zn_relu_f32(y, dst.data, n);
    same(dst.data, e, n, shift, seed);

    zn_relu_f32(y, y, n); // in place
    same(y, e, n, shift, seed);
    for (size_t i = 0; i < n; i++) e[i] = relu ? relu_of(x[i] + y[i]) : x[i] + y[i];
    zn_add_f32(x, y, relu, x, n);
    same(x, e, n, shift, seed);
    fenced *all[] = {&a, &b, &dst, &expected};
    for (size_t i = 0; i < COUNT(all); i++) {
        assert_true(fenced_intact(all[i]));
        fenced_free(all[i]);
    }
}

ZN_TEST(add_and_relu)
{
    uint64_t seed = 1;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (size_t shift = 0; shift < 8; shift++) {
            check(sizes[s], shift, false, seed++);
            check(sizes[s], shift, true, seed++);
        }
    }
}

static void bench(void)
{
    enum { N = 32768 };
    static float a[N], b[N];
    bench_clock clock = {0};
    while (bench_again(&clock)) zn_add_f32(a, b, true, a, N);
    bench_result(&clock, "only", N, "elements/ns", "add and relu");
}

KERNEL_GROUP(elementwise, bench)
