// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Curves and slopes: every version within the bound of activation.h of the double result; the
// double ones against numbers from elsewhere (torch.nn.functional in double).
#include "src/kernel/pointwise/activation.h"
#include "tests/kernel/fenced.h"

#include <math.h>
#include <string.h>

ZN_TEST(specification_has_known_values)
{
    static const struct {
        zn_curve curve;
        double x, value, slope;
    } known[] = {
        {ZN_CURVE_SILU, 1.5, 1.2263617142904655, 1.041294154299143},
        {ZN_CURVE_SILU, -3, -0.14227761953270035, -0.08810410601516962},
        {ZN_CURVE_GELU, 1.5, 1.399789198096713, 1.1274691922299795},
        {ZN_CURVE_GELU, -0.75, -0.16997051428265111, 0.0007742782607648158},
        {ZN_CURVE_GELU_TANH, 1.5, 1.3995715769802328, 1.127710793151433},
        {ZN_CURVE_TANH, 0.5, 0.4621171572600098, 0.7864477329659274},
        {ZN_CURVE_LOGISTIC, -1.25, 0.22270013882530884, 0.173104786992497},
        {ZN_CURVE_NONE, -1.25, -1.25, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double value = zn_curve_value(known[i].curve, known[i].x);
        const double slope = zn_curve_slope(known[i].curve, known[i].x);
        if (fabs(value - known[i].value) < 1e-9 && fabs(slope - known[i].slope) < 1e-9) continue;
        fail_msg("curve %d at %g: %.17g and slope %.17g", (int)known[i].curve, known[i].x, value,
                 slope);
    }
}

static void compare(const kernel_set *set, zn_curve curve, bool slope, float x, double by,
                    float got)
{
    const double at = fabs((double)x);
    const double want = by * (slope ? zn_curve_slope(curve, (double)x)
                                    : zn_curve_value(curve, (double)x));
    const double most = fabs(by * (slope ? zn_curve_slope(curve, at) : zn_curve_value(curve, at)));
    if (fabs((double)got - want) <= 8 * ldexp(most, -23) + 1e-37) return;
    fail_msg("%s, curve %d, slope %d: at %.9g it is %.9g, not %.9g", set->name, (int)curve, slope,
             (double)x, (double)got, want);
}

// From the smallest to large values, both signs: 2^-30 to 2^6 in small steps.
ZN_TEST(versions_are_within_the_bound)
{
    enum { N = 4608 };
    static float x[N], by[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)(pow(2, (double)(i / 2) / 64 - 30) * (i % 2 ? -1 : 1));
        by[i] = 1 + (float)(i % 7);
    }
    FOR_EACH_SET(set)
    {
        for (int k = 0; k < 4 * ZN_CURVE_COUNT; k++) {
            const zn_curve curve = (zn_curve)(k / 4);
            const bool slope = k & 1, scaled = k & 2;
            set->kernels.activation(curve, slope)(x, scaled ? by : NULL, y, N);
            for (int i = 0; i < N; i++)
                compare(set, curve, slope, x[i], scaled ? (double)by[i] : 1, y[i]);
        }
    }
}

ZN_TEST(arrays_of_any_length)
{
    zn_random random = {.seed = 11};
    FOR_EACH_SET(set)
    {
        for (size_t n = 0; n < 40; n++) {
            fenced src = fenced_make(n * sizeof(float), 0), dst = fenced_make(n * sizeof(float), 4);
            fenced by = fenced_make(n * sizeof(float), n % 8 * sizeof(float));
            fill_normal(src.data, n, &random);
            fill_normal(by.data, n, &random);
            zn_activation_fn *run = set->kernels.activation((zn_curve)(n % ZN_CURVE_COUNT), false);
            run(src.data, by.data, dst.data, n);
            run(src.data, by.data, src.data, n); // in place
            if (memcmp(src.data, dst.data, n * sizeof(float)) != 0)
                fail_msg("%s, %zu elements: in place it is something else", set->name, n);
            fenced_close((fenced *[]){&src, &dst, &by}, 3);
        }
    }
}

ZN_TEST(ends_and_nan)
{
    FOR_EACH_SET(set)
    {
        for (int k = 0; k < 2 * ZN_CURVE_COUNT; k++) {
            const float x[3] = {NAN, 1e30f, -1e30f};
            float y[3];
            const zn_curve curve = (zn_curve)(k / 2);
            set->kernels.activation(curve, k & 1)(x, NULL, y, 3);
            assert_true(isnan(y[0]));
            const bool bounded = k & 1 || curve == ZN_CURVE_TANH || curve == ZN_CURVE_LOGISTIC;
            for (int i = 1; i < 3; i++) { // products with x of what is nearly 0 need not be 0
                const double want = k & 1 ? zn_curve_slope(curve, (double)x[i])
                                          : zn_curve_value(curve, (double)x[i]);
                assert_true(fabs((double)y[i] - want) <=
                            1e-5 * (fabs(want) + 1) + (bounded ? 0 : 1e24));
            }
        }
    }
}

static void bench(void)
{
    enum { N = 4096 };
    static const char *const names[ZN_CURVE_COUNT] = {"silu", "gelu",     "gelu by tanh",
                                                      "tanh", "logistic", "none"};
    static float x[N], y[N];
    zn_random random = {.seed = 1};
    fill_normal(x, N, &random);
    FOR_EACH_SET(set)
    {
        for (int k = 0; k < ZN_CURVE_COUNT; k++) {
            bench_clock clock = {0};
            while (bench_again(&clock)) set->kernels.activation((zn_curve)k, false)(x, NULL, y, N);
            bench_result(&clock, set->name, N, "elements/ns", "%s", names[k]);
        }
    }
}

KERNEL_GROUP(activation, bench)
