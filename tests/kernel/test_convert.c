// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions: every version has the bits of the scalar one, which has those of the formula.
#include "src/kernel/pointwise/convert.h"
#include "tests/kernel/fenced.h"

#include <math.h>

static const zn_type sources[] = {ZN_F32, ZN_BF16, ZN_F16, ZN_U8, ZN_S8};
static const zn_type targets[] = {ZN_F32, ZN_BF16, ZN_F16, ZN_U8, ZN_S8};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FOR_EACH_PAIR(from, to)                                                                    \
    for (const zn_type *from = sources; from < sources + COUNT(sources); from++)                   \
        for (const zn_type *to = targets; to < targets + COUNT(targets); to++)

static float f32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Half of the numbers near the range of a byte, the others of any bits.
static void fill(zn_type type, void *dst, size_t n, zn_random *random)
{
    fill_bytes(dst, n * zn_type_size(type), random);
    for (size_t i = 0; i < n; i += 2) {
        const float value = 100.0f * zn_random_normal(random);
        if (type == ZN_F32) ((float *)dst)[i] = value;
        if (type == ZN_BF16) ((uint16_t *)dst)[i] = zn_f32_to_bf16(value);
        if (type == ZN_F16) ((uint16_t *)dst)[i] = zn_f32_to_f16(value);
    }
}

static void compare(const kernel_set *set, zn_type from, zn_type to, size_t n, size_t shift,
                    uint64_t seed)
{
    zn_random random = {.seed = seed};
    const float scales[] = {1.0f, 1.0f / 255.0f, 0.37f};
    const float src_scale = scales[zn_random_below(&random, 3)];
    const float dst_scale = scales[zn_random_below(&random, 3)];
    const size_t bytes = n * zn_type_size(to);
    fenced src = fenced_make(n * zn_type_size(from), shift * zn_type_size(from));
    fenced expected = fenced_make(bytes, 0), dst = fenced_make(bytes, shift * zn_type_size(to));
    fill(from, src.data, n, &random);
    zn_convert_baseline(from, to)(src.data, src_scale, expected.data, dst_scale, n);
    set->kernels.convert(from, to)(src.data, src_scale, dst.data, dst_scale, n);
    if (memcmp(dst.data, expected.data, bytes) || !fenced_intact(&dst) || !fenced_intact(&src)) {
        print_error("%s to %s, %s, n %zu, shift %zu, scales %g %g, seed %llu\n", zn_type_name(from),
                    zn_type_name(to), set->name, n, shift, (double)src_scale, (double)dst_scale,
                    (unsigned long long)seed);
        fail();
    }
    fenced_free(&src);
    fenced_free(&expected);
    fenced_free(&dst);
}

ZN_TEST(versions_give_the_same_bits)
{
    static const size_t sizes[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 257, 20011};
    uint64_t seed = 1;
    FOR_EACH_SET(set) FOR_EACH_PAIR(from, to)
    {
        for (size_t s = 0; s < COUNT(sizes); s++) {
            for (size_t shift = 0; shift < 8; shift++) {
                compare(set, *from, *to, sizes[s], shift, seed++);
            }
        }
    }
}

// Each stored number of 8 and 16 bits, through f32 and back: nothing is lost.
ZN_TEST(round_trips)
{
    enum { ALL = 65536 };
    static uint16_t words[ALL], words_back[ALL];
    static float wide[ALL];
    uint8_t bytes[256], bytes_back[256];
    for (int i = 0; i < ALL; i++) words[i] = (uint16_t)i;
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    FOR_EACH_SET(set)
    {
        set->kernels.convert(ZN_BF16, ZN_F32)(words, 1.0f, wide, 1.0f, ALL);
        set->kernels.convert(ZN_F32, ZN_BF16)(wide, 1.0f, words_back, 1.0f, ALL);
        for (int i = 0; i < ALL; i++) {
            const int nan = (i & 0x7fff) > 0x7f80;
            assert_int_equal(words_back[i], nan ? i | 0x40 : i);
        }
        set->kernels.convert(ZN_F16, ZN_F32)(words, 1.0f, wide, 1.0f, ALL);
        set->kernels.convert(ZN_F32, ZN_F16)(wide, 1.0f, words_back, 1.0f, ALL);
        for (int i = 0; i < ALL; i++) {
            const int nan = (i & 0x7fff) > 0x7c00;
            assert_int_equal(words_back[i], nan ? i | 0x200 : i);
        }
        static const zn_type integers[] = {ZN_U8, ZN_S8};
        for (int t = 0; t < 2; t++) {
            const float scale = 2.0f / 255.0f;
            set->kernels.convert(integers[t], ZN_F32)(bytes, scale, wide, 1.0f, 256);
            set->kernels.convert(ZN_F32, integers[t])(wide, 1.0f, bytes_back, scale, 256);
            assert_memory_equal(bytes, bytes_back, 256);
        }
    }
}

// From f32, with scales of 1: the documented result of each hard case, anywhere in a vector.
ZN_TEST(hard_cases)
{
    static const struct {
        uint32_t bits;
        uint16_t bf16, f16;
        uint8_t u8;
        int8_t s8;
    } cases[] = {
        {0x00000000, 0x0000, 0x0000, 0, 0},
        {0x80000000, 0x8000, 0x8000, 0, 0}, // zeros
        {0x3f000000, 0x3f00, 0x3800, 0, 0},
        {0x3fc00000, 0x3fc0, 0x3e00, 2, 2}, // 0.5, 1.5: ties
        {0x40200000, 0x4020, 0x4100, 2, 2},
        {0xbf000000, 0xbf00, 0xb800, 0, 0}, // 2.5, -0.5
        {0x3f000001, 0x3f00, 0x3800, 1, 1},
        {0xbfc00000, 0xbfc0, 0xbe00, 0, -2}, // above 0.5, -1.5
        {0x42fe0000, 0x42fe, 0x57f0, 127, 127},
        {0x43000000, 0x4300, 0x5800, 128, 127}, // 127, 128
        {0x437f0000, 0x437f, 0x5bf8, 255, 127},
        {0x437f8000, 0x4380, 0x5bfc, 255, 127}, // 255, 255.5
        {0xc3000000, 0xc300, 0xd800, 0, -128},
        {0xc3010000, 0xc301, 0xd808, 0, -128}, // -128, -129
        {0x4f000000, 0x4f00, 0x7c00, 255, 127},
        {0xcf800000, 0xcf80, 0xfc00, 0, -128}, // 2^31, -2^32
        {0x7f7fffff, 0x7f80, 0x7c00, 255, 127},
        {0xff7fffff, 0xff80, 0xfc00, 0, -128}, // the largest
        {0x7f800000, 0x7f80, 0x7c00, 255, 127},
        {0xff800000, 0xff80, 0xfc00, 0, -128}, // infinities
        {0x7fc00000, 0x7fc0, 0x7e00, 0, 0},
        {0xffc01234, 0xffc0, 0xfe00, 0, 0}, // quiet NaN
        {0x7f800001, 0x7fc0, 0x7e00, 0, 0},
        {0xffffffff, 0xffff, 0xffff, 0, 0}, // signalling; all ones
        {0x00000001, 0x0000, 0x0000, 0, 0},
        {0x007fffff, 0x0080, 0x0000, 0, 0}, // denormals
        {0x00008000, 0x0000, 0x0000, 0, 0},
        {0x00018000, 0x0002, 0x0000, 0, 0}, // ties of denormals
        {0x80008001, 0x8001, 0x8000, 0, 0},
        {0x3f808000, 0x3f80, 0x3c04, 1, 1}, // ties of bf16
        {0x3f818000, 0x3f82, 0x3c0c, 1, 1},
        {0x3f808001, 0x3f81, 0x3c04, 1, 1},
        {0x477fe000, 0x4780, 0x7bff, 255, 127},
        {0x477ff000, 0x4780, 0x7c00, 255, 127}, // the largest f16; a tie with infinity
        {0x33000000, 0x3300, 0x0000, 0, 0},
        {0x33c00000, 0x33c0, 0x0002, 0, 0}, // ties of f16's denormals
    };
    enum { N = 32 };
    float src[N];
    uint16_t words[N];
    uint8_t bytes[N];
    FOR_EACH_SET(set)
    {
        for (size_t c = 0; c < COUNT(cases); c++) {
            for (int i = 0; i < N; i++) src[i] = f32_of_bits(cases[c].bits);
            for (size_t n = 1; n <= N; n += N - 1) {
                set->kernels.convert(ZN_F32, ZN_BF16)(src, 1.0f, words, 1.0f, n);
                for (size_t i = 0; i < n; i++) assert_int_equal(words[i], cases[c].bf16);
                set->kernels.convert(ZN_F32, ZN_F16)(src, 1.0f, words, 1.0f, n);
                for (size_t i = 0; i < n; i++) assert_int_equal(words[i], cases[c].f16);
                set->kernels.convert(ZN_F32, ZN_U8)(src, 1.0f, bytes, 1.0f, n);
                for (size_t i = 0; i < n; i++) assert_int_equal(bytes[i], cases[c].u8);
                set->kernels.convert(ZN_F32, ZN_S8)(src, 1.0f, bytes, 1.0f, n);
                for (size_t i = 0; i < n; i++) assert_int_equal((int8_t)bytes[i], cases[c].s8);
            }
        }
    }
}

// The stated formula, on numbers where the order of its two roundings shows.
ZN_TEST(formula)
{
    enum { N = 1000 };
    static float src[N], dst[N];
    static uint8_t bytes[N];
    zn_random random = {.seed = 5};
    fill_normal(src, N, &random);
    const float src_scale = 0.1f, dst_scale = 0.003f;
    FOR_EACH_SET(set)
    {
        set->kernels.convert(ZN_F32, ZN_F32)(src, src_scale, dst, dst_scale, N);
        set->kernels.convert(ZN_F32, ZN_U8)(src, src_scale, bytes, dst_scale, N);
        for (int i = 0; i < N; i++) {
            const float real = src[i] * src_scale, expected = real * (1.0f / dst_scale);
            assert_int_equal(bits_of_f32(dst[i]), bits_of_f32(expected));
            assert_int_equal(bytes[i], (int)fminf(fmaxf(nearbyintf(expected), 0.0f), 255.0f));
        }
    }
}

ZN_TEST(unserved_pairs)
{
    FOR_EACH_SET(set)
    {
        FOR_EACH_PAIR(from, to) assert_non_null(set->kernels.convert(*from, *to));
        assert_null(set->kernels.convert(ZN_F16, ZN_BF16X2));
        assert_null(set->kernels.convert(ZN_S64, ZN_F32));
    }
}

static void bench(void)
{
    enum { N = 1 << 14 };
    static float src[N], dst[N];
    for (int i = 0; i < N; i++) src[i] = (float)(i & 255);
    FOR_EACH_SET(set) FOR_EACH_PAIR(from, to)
    {
        zn_convert_fn *run = set->kernels.convert(*from, *to);
        bench_clock clock = {0};
        while (bench_again(&clock)) run(src, 1.0f, dst, 1.0f, N);
        bench_result(&clock, set->name, N, "elements/ns", "%s to %s", zn_type_name(*from),
                     zn_type_name(*to));
    }
}

KERNEL_GROUP(convert, bench)
