// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// e^x: every version within its bound of the double result, at floats spread evenly over all bit
// patterns, and at the ends.
#include "src/kernel/pointwise/exp.h"
#include "tests/kernel/fenced.h"
#include "tests/kernel/kernels.h"

#include <math.h>

enum { COUNT = 4096 };
static const double bound = 1.1; // of an ulp; exp_body.h

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void compare(const kernel_set *set, float x, float got)
{
    const double want = exp((double)x);
    if (isnan(x) ? isnan(got) : (float)want == got) return;
    int exponent = 0;
    frexp(want, &exponent);
    const double ulp = ldexp(1, exponent < -125 ? -149 : exponent - 24);
    const double error = fabs((double)got - want) / ulp;
    // The true value just below the largest float may be rounded over it.
    if (error <= bound || (isinf(got) && want > 3.4028e38)) return;
    fail_msg("%s: e^%.9g is %.9g, %.3g ulp off", set->name, (double)x, (double)got, error);
}

ZN_TEST(every_pattern_is_within_the_bound)
{
    static float src[COUNT], dst[COUNT];
    FOR_EACH_SET(set)
    {
        const uint64_t step = zn_test_quick() ? 49999 : 1999; // odd primes
        for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += step * COUNT) {
            for (size_t i = 0; i < COUNT; i++) src[i] = float_of((uint32_t)(bits + i * step));
            set->kernels.exp(src, 0, dst, COUNT);
            for (size_t i = 0; i < COUNT; i++) compare(set, src[i], dst[i]);
        }
    }
}

ZN_TEST(ends_are_as_documented)
{
    static const float at[][2] = {
        {0, 1},       {-0.0f, 1},         {-INFINITY, 0},    {-1e30f, 0},
        {-104.5f, 0}, {88.74f, INFINITY}, {1e30f, INFINITY}, {INFINITY, INFINITY}};
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            float got = NAN;
            set->kernels.exp(at[i], 0, &got, 1);
            assert_true(got == at[i][1]);
        }
    }
}

// Each length around a vector, at the very end of what may be touched, shifted and in place.
ZN_TEST(arrays_of_any_length)
{
    zn_random random = {.seed = 7};
    FOR_EACH_SET(set)
    {
        for (size_t n = 0; n < 40; n++) {
            fenced src = fenced_make(n * sizeof(float), 0), dst = fenced_make(n * sizeof(float), 0);
            fill_normal(src.data, n, &random);
            set->kernels.exp(src.data, 0.5f, dst.data, n);
            const float *x = src.data, *y = dst.data;
            for (size_t i = 0; i < n; i++) compare(set, x[i] - 0.5f, y[i]);
            set->kernels.exp(src.data, 0.5f, src.data, n);
            assert_memory_equal(src.data, dst.data, n * sizeof(float));
            fenced_close((fenced *[]){&src, &dst}, 2);
        }
    }
}

static void bench(void)
{
    static float src[COUNT], dst[COUNT];
    zn_random random = {.seed = 1};
    fill_normal(src, COUNT, &random);
    FOR_EACH_SET(set)
    {
        bench_clock clock = {0};
        while (bench_again(&clock)) set->kernels.exp(src, 1, dst, COUNT);
        bench_result(&clock, set->name, COUNT, "elements/ns", "%d floats", COUNT);
    }
}

KERNEL_GROUP(exp, bench)
