// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// rotation: near the specification of the file format (format/tensor/convrot.h), the same bits in
// every version, and twice is nothing.
#include "src/format/tensor/convrot.h"
#include "src/kernel/linear/rotation.h"
#include "tests/kernel/fenced.h"

#include <math.h>

enum { MOST = 2 * ZN_ROTATION_MOST };

ZN_TEST(versions_are_the_format_s_rotation)
{
    zn_random random = {.seed = 7};
    for (int64_t group = 4; group <= ZN_ROTATION_MOST; group *= 4) {
        float x[MOST], expected[MOST], first[MOST];
        const int64_t count = 2 * group;
        fill_normal(x, (size_t)count, &random);
        memcpy(expected, x, sizeof x);
        zn_convrot_row(expected, (size_t)count, (size_t)group);
        FOR_EACH_SET(set)
        {
            fenced values = fenced_make((size_t)count * sizeof(float), 4 * (set->flags % 4));
            float *got = values.data;
            memcpy(got, x, (size_t)count * sizeof(float));
            set->kernels.rotation(got, count, group);
            if (set->flags == 0) memcpy(first, got, (size_t)count * sizeof(float));
            assert_memory_equal(got, first, (size_t)count * sizeof(float));
            for (int64_t i = 0; i < count; i++) assert_true(fabsf(got[i] - expected[i]) <= 1e-5f);
            set->kernels.rotation(got, count, group);
            for (int64_t i = 0; i < count; i++) assert_true(fabsf(got[i] - x[i]) <= 1e-5f);
            fenced_close((fenced *[]){&values}, 1);
        }
    }
}

ZN_TEST(sizes)
{
    assert_true(zn_rotation_fits(3840, 256) && zn_rotation_fits(4, 4));
    assert_true(zn_rotation_fits(2048, 1024));
    assert_false(zn_rotation_fits(3840, 1024) || zn_rotation_fits(3840, 0));
    assert_false(zn_rotation_fits(4096, 4096) || zn_rotation_fits(64, 8));
}

static void bench(void)
{
    enum { N = 3840 };
    static float x[N];
    FOR_EACH_SET(set)
    {
        bench_clock clock = {0};
        while (bench_again(&clock)) set->kernels.rotation(x, N, 256);
        bench_result(&clock, set->name, N, "elements/ns", "%d by 256", N);
    }
}

KERNEL_GROUP(rotation, bench)
