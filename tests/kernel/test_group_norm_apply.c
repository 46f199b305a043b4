// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The last step of a group norm: without SiLU the bits of the stated arithmetic in every version;
// with it, within the bound of activation.h and half a step of the result's type.
#include "src/kernel/norm/group_norm_apply.h"
#include "src/kernel/pointwise/activation.h"
#include "tests/kernel/fenced.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { PIXELS = 3 };

static const size_t channels_of[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 512};
static const zn_type types[] = {ZN_F32, ZN_BF16};

typedef struct subject {
    zn_type from, to;
    size_t channels, count;
    bool silu;
    fenced src, dst, scale, shift;
} subject;

static subject make(size_t channels, size_t gap, zn_type from, zn_type to, bool silu, uint64_t seed)
{
    zn_random random = {.seed = seed};
    const size_t n = PIXELS * channels;
    subject s = {.from = from, .to = to, .channels = channels, .count = n, .silu = silu};
    s.src = fenced_make(n * zn_type_size(from), gap * zn_type_size(from));
    s.dst = fenced_make(n * zn_type_size(to), gap * zn_type_size(to));
    s.scale = fenced_make(channels * sizeof(float), gap * sizeof(float));
    s.shift = fenced_make(channels * sizeof(float), gap * sizeof(float));
    for (size_t i = 0; i < n; i++)
        zn_type_store(from, s.src.data, i, 8 * zn_random_normal(&random));
    fill_normal(s.scale.data, channels, &random);
    fill_normal(s.shift.data, channels, &random);
    return s;
}

static void check_value(const subject *s, const kernel_set *set, size_t i)
{
    const size_t c = i % s->channels;
    const float product = zn_type_load(s->from, s->src.data, i) * ((float *)s->scale.data)[c];
    const float value = product + ((float *)s->shift.data)[c];
    const float got = zn_type_load(s->to, s->dst.data, i);
    const double want = s->silu ? zn_curve_value(ZN_CURVE_SILU, (double)value) : (double)value;
    const double most = zn_curve_value(ZN_CURVE_SILU, fabs((double)value));
    double bound = s->silu ? 8 * ldexp(most, -23) : 0;
    if (s->to == ZN_BF16 && s->silu) bound += ldexp(fabs(want), -8);
    const float rounded = s->to == ZN_BF16 ? zn_bf16_to_f32(zn_f32_to_bf16(value)) : value;
    if (s->silu ? fabs((double)got - want) <= bound : got == rounded) return;
    fail_msg("%s, %s -> %s, %zu channels, silu %d: element %zu is %.9g, not %.9g", set->name,
             zn_type_name(s->from), zn_type_name(s->to), s->channels, s->silu, i, (double)got,
             want);
}

ZN_TEST(every_version_is_the_stated_arithmetic)
{
    uint64_t seed = 1;
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < COUNT(channels_of) * 16; i++, seed++) {
            subject s = make(channels_of[i / 16], i % 5, types[i & 1], types[i >> 1 & 1],
                             i >> 2 & 1, seed);
            set->kernels.group_norm(s.from, s.to, s.silu)(s.src.data, PIXELS, s.channels,
                                                          s.scale.data, s.shift.data, s.dst.data);
            for (size_t k = 0; k < s.count; k++) check_value(&s, set, k);
            fenced_close((fenced *[]){&s.src, &s.dst, &s.scale, &s.shift}, 4);
        }
    }
}

ZN_TEST(nan_stays_and_other_types_are_refused)
{
    FOR_EACH_SET(set)
    {
        float x[2] = {NAN, 1}, scale[2] = {1, 1}, shift[2] = {0, 0}, y[2];
        set->kernels.group_norm(ZN_F32, ZN_F32, true)(x, 1, 2, scale, shift, y);
        assert_true(isnan(y[0]) && fabsf(y[1] - 0.73105858f) < 1e-6f);
        assert_null(set->kernels.group_norm(ZN_F16, ZN_F32, false));
        assert_null(set->kernels.group_norm(ZN_F32, ZN_U8, false));
    }
}

static void bench(void)
{
    enum { CHANNELS = 128, WIDE = 32, N = WIDE * CHANNELS };
    static float src[N], dst[N], scale[CHANNELS], shift[CHANNELS];
    zn_random random = {.seed = 1};
    fill_normal(scale, CHANNELS, &random);
    fill_normal(shift, CHANNELS, &random);
    FOR_EACH_SET(set)
    {
        for (int i = 0; i < 4; i++) {
            const zn_type type = types[i & 1];
            zn_group_norm_fn *run = set->kernels.group_norm(type, type, i >> 1);
            for (size_t k = 0; k < N; k++) zn_type_store(type, src, k, zn_random_normal(&random));
            bench_clock clock = {0};
            while (bench_again(&clock)) run(src, WIDE, CHANNELS, scale, shift, dst);
            bench_result(&clock, set->name, N, "elements/ns", "%s%s", zn_type_name(type),
                         i >> 1 ? ", silu" : "");
        }
    }
}

KERNEL_GROUP(group_norm_apply, bench)
