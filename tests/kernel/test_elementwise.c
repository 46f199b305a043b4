// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums, ReLU and normalisation against loops over single numbers.
#include "src/kernel/elementwise.h"
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

static void add_and_relu(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (size_t shift = 0; shift < 8; shift++) {
            check(sizes[s], shift, false, seed++);
            check(sizes[s], shift, true, seed++);
        }
    }
}

static void group_norm(void **state)
{
    (void)state;
    enum { PIXELS = 3 };
    uint64_t seed = 1;
    for (size_t s = 1; s < COUNT(sizes); s++, seed++) {
        const size_t channels = sizes[s], n = PIXELS * channels;
        const bool relu = s % 2;
        zn_random random = {.seed = seed};
        fenced src = make(n, s % 8, &random), dst = make(n, s % 8, &random);
        fenced scale = make(channels, s % 8, &random), shift = make(channels, s % 8, &random);
        fenced expected = make(n, 0, &random);
        for (size_t i = 0; i < n; i++) {
            const size_t c = i % channels;
            const float product = ((float *)src.data)[i] * ((float *)scale.data)[c];
            const float value = product + ((float *)shift.data)[c];
            ((float *)expected.data)[i] = relu ? relu_of(value) : value;
        }
        zn_group_norm_rows(src.data, PIXELS, (int64_t)channels, scale.data, shift.data, relu,
                           dst.data);
        same(dst.data, expected.data, n, s % 8, seed);
        zn_group_norm_rows(src.data, PIXELS, (int64_t)channels, scale.data, shift.data, relu,
                           src.data);
        same(src.data, expected.data, n, s % 8, seed);
        fenced *all[] = {&src, &dst, &scale, &shift, &expected};
        for (size_t i = 0; i < COUNT(all); i++) {
            assert_true(fenced_intact(all[i]));
            fenced_free(all[i]);
        }
    }
}

static int bench(void)
{
    enum { PIXELS = 256, CHANNELS = 128, N = PIXELS * CHANNELS, RUNS = 200 };
    static float a[N], b[N], scale[CHANNELS], shift[CHANNELS];
    double start = seconds();
    for (int r = 0; r < RUNS; r++) zn_add_f32(a, b, true, a, N);
    printf("add and relu %7.3f ns per element\n", (seconds() - start) * 1e9 / ((double)N * RUNS));
    start = seconds();
    for (int r = 0; r < RUNS; r++) zn_group_norm_rows(a, PIXELS, CHANNELS, scale, shift, true, b);
    printf("group norm   %7.3f ns per element\n", (seconds() - start) * 1e9 / ((double)N * RUNS));
    return 0;
}

int main(int argc, char **argv)
{
    if (wants_bench(argc, argv)) return bench();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_and_relu),
        cmocka_unit_test(group_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
