// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// masked_sum: every version against a loop over single numbers, to the bit, with special numbers
// among them, in every combination of arguments, in place too.
#include "src/kernel/pointwise/masked_sum.h"
#include "tests/kernel/fenced.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const size_t sizes[] = {0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 4099};
static const zn_type types[] = {ZN_F32, ZN_BF16};
enum { WITH_B = 1, WITH_Y = 2, OVER_A = 4, OVER_Y = 8, CASES = 16 };

static fenced make(zn_type type, size_t n, size_t shift, zn_random *random)
{
    static const float special[] = {NAN,   -NAN,   INFINITY, -INFINITY, 0.0f,
                                    -0.0f, 1e-40f, -1e-40f,  3.4e38f};
    fenced f = fenced_make(n * zn_type_size(type), shift * zn_type_size(type));
    for (size_t i = 0; i < n; i++) {
        const bool plain = zn_random_below(random, 5) > 0;
        zn_type_store(type, f.data, i,
                      plain ? zn_random_normal(random)
                            : special[zn_random_below(random, COUNT(special))]);
    }
    return f;
}

static float expected(zn_type type, const void *a, const void *b, const void *y, size_t i)
{
    if (y && !(zn_type_load(type, y, i) > 0)) return 0;
    return zn_type_load(type, a, i) + (b ? zn_type_load(type, b, i) : 0);
}

static void check(zn_masked_sum_fn *version, zn_type type, size_t n, size_t shift, int which,
                  uint64_t seed)
{
    zn_random random = {.seed = seed};
    fenced a = make(type, n, shift, &random), b = make(type, n, 0, &random);
    fenced y = make(type, n, shift, &random), dst = make(type, n, 1, &random);
    fenced before = fenced_make(n * sizeof(float), 0);
    const void *with_b = which & WITH_B ? b.data : NULL, *with_y = which & WITH_Y ? y.data : NULL;
    void *to = which & OVER_A ? a.data : which & OVER_Y ? y.data : dst.data;
    float *want = before.data;
    for (size_t i = 0; i < n; i++) want[i] = expected(type, a.data, with_b, with_y, i);
    version(type, a.data, with_b, with_y, to, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t rounded = 0;
        zn_type_store(type, &rounded, 0, want[i]);
        const float got = zn_type_load(type, to, i), exact = zn_type_load(type, &rounded, 0);
        // -0 + nothing: the loop adds 0, the version copies.
        if ((isnan(got) && isnan(exact)) || got == exact) continue;
        print_error("%s n %zu shift %zu case %d seed %llu: %zu is %g, not %g\n", zn_type_name(type),
                    n, shift, which, (unsigned long long)seed, i, (double)got, (double)exact);
        fail();
    }
    fenced *all[] = {&a, &b, &y, &dst, &before};
    fenced_close(all, COUNT(all));
}

ZN_TEST(versions_agree)
{
    uint64_t seed = 1;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (int which = 0; which < CASES; which++) {
            for (size_t t = 0; t < COUNT(types); t++, seed++) {
                check(zn_masked_sum_reference, types[t], sizes[s], 0, which, seed);
                FOR_EACH_SET(set)
                {
                    check(set->kernels.masked_sum, types[t], sizes[s], seed % 8, which, seed);
                }
            }
        }
    }
}

// All bf16 there are, as y.
ZN_TEST(every_bf16)
{
    enum { N = 1 << 16 };
    static uint16_t y[N], dy[N], dst[N];
    for (int i = 0; i < N; i++) {
        y[i] = (uint16_t)i;
        dy[i] = 0x7fc1; // a NaN stays the NaN it is
    }
    FOR_EACH_SET(set)
    {
        set->kernels.masked_sum(ZN_BF16, dy, NULL, y, dst, N);
        for (int i = 0; i < N; i++) assert_int_equal(dst[i], zn_bf16_to_f32(y[i]) > 0 ? dy[i] : 0);
    }
}

static void bench(void)
{
    enum { N = 128 * 64 };
    static float a[N], b[N], y[N];
    FOR_EACH_SET(set)
    {
        for (size_t t = 0; t < COUNT(types); t++) {
            for (int which = 1; which < 4; which++) {
                bench_clock clock = {0};
                while (bench_again(&clock))
                    set->kernels.masked_sum(types[t], a, which & WITH_B ? b : NULL,
                                            which & WITH_Y ? y : NULL, a, N);
                bench_result(&clock, set->name, N, "elements/ns", "%s%s%s", zn_type_name(types[t]),
                             which & WITH_B ? " sum" : "", which & WITH_Y ? " masked" : "");
            }
        }
    }
}

KERNEL_GROUP(masked_sum, bench)
