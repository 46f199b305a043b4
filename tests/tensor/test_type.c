// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions of the small floats against their definition in double, and all patterns both ways.
#include "tests/testing.h"

#include "src/tensor/finite.h"
#include "src/tensor/type.h"
#include "tests/tensor/f8_values.h"

#include <float.h>
#include <limits.h>
#include <math.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// What a pattern of the format means, by the textbook; `top` is the first pattern past the numbers.
static double meaning(unsigned bits, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    double fraction = bits & ((1u << fraction_bits) - 1);
    double scale = ldexp(1, -fraction_bits);
    double value = exponent == 0 ? ldexp(fraction * scale, 1 - bias)
                                 : ldexp(1 + fraction * scale, exponent - bias);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -value : value;
}

// Between two neighbours: below the middle the lower, above it the upper, on it the even one.
static void check_rounding(zn_type type, int exponent_bits, int fraction_bits, unsigned top)
{
    for (unsigned low = 0; low < top; low++) {
        double a = meaning(low, exponent_bits, fraction_bits);
        double b = meaning(low + 1, exponent_bits, fraction_bits); // past the end: what it would be
        float middle = (float)((a + b) / 2);
        const float probes[4] = {(float)a, nextafterf(middle, 0), middle,
                                 nextafterf(middle, INFINITY)};
        const unsigned expected[4] = {low, low, low + (low & 1), low + 1};
        for (int i = 0; i < 4; i++) {
            uint16_t stored = 0, negative = 0;
            zn_type_store(type, &stored, 0, probes[i]);
            zn_type_store(type, &negative, 0, -probes[i]);
            assert_int_equal(stored, expected[i]);
            assert_int_equal(negative, expected[i] | 1u << (exponent_bits + fraction_bits));
        }
    }
}

ZN_TEST(f16_all_patterns)
{
    for (unsigned bits = 0; bits <= 0xffff; bits++) {
        float value = zn_f16_to_f32((uint16_t)bits);
        if ((bits & 0x7fff) > 0x7c00) {
            assert_true(isnan(value));
            assert_int_equal(zn_f32_to_f16(value), bits | 0x200); // quiet, with its payload
            continue;
        }
        if ((bits & 0x7fff) == 0x7c00) {
            assert_true(isinf(value));
        } else {
            assert_true((double)value == meaning(bits, 5, 10));
        }
        assert_int_equal(signbit(value) != 0, bits >> 15);
        assert_int_equal(zn_f32_to_f16(value), bits);
    }
    check_rounding(ZN_F16, 5, 10, 0x7c00);
    assert_int_equal(zn_f32_to_f16(65519.996f), 0x7bff);
    assert_int_equal(zn_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(zn_f32_to_f16(FLT_MAX), 0x7c00);
    assert_int_equal(zn_f32_to_f16(-INFINITY), 0xfc00);
    assert_int_equal(zn_f32_to_f16(0x1p-25f), 0); // half of the smallest: to even
    assert_int_equal(zn_f32_to_f16(0x1.000002p-25f), 1);
    assert_int_equal(zn_f32_to_f16(float_of(1)), 0);
    assert_int_equal(zn_f32_to_f16(-0.0f), 0x8000);
}

ZN_TEST(bf16_rounds_to_even)
{
    for (uint32_t high = 0; high <= 0xffff; high++) {
        float value = zn_bf16_to_f32((uint16_t)high);
        assert_int_equal(bits_of(value), high << 16);
        uint32_t magnitude = high & 0x7fff;
        if (magnitude > 0x7f80) {
            assert_int_equal(zn_f32_to_bf16(value), high | 0x40);
            continue;
        }
        assert_int_equal(zn_f32_to_bf16(value), high);
        if (magnitude == 0x7f80) continue;
        assert_int_equal(zn_f32_to_bf16(float_of(high << 16 | 0x7fff)), high);
        assert_int_equal(zn_f32_to_bf16(float_of(high << 16 | 0x8000)), high + (high & 1));
        assert_int_equal(zn_f32_to_bf16(float_of(high << 16 | 0x8001)), high + 1);
    }
    // A NaN whose payload is in the lower half must not become infinity.
    assert_true(isnan(zn_bf16_to_f32(zn_f32_to_bf16(float_of(0x7f800001u)))));
    assert_int_equal(zn_f32_to_bf16(FLT_MAX), 0x7f80);
}

ZN_TEST(f8_all_patterns)
{
    for (unsigned bits = 0; bits <= 0xff; bits++) {
        uint8_t stored;
        float e4m3 = zn_f8_e4m3_to_f32((uint8_t)bits), e5m2 = zn_f8_e5m2_to_f32((uint8_t)bits);
        unsigned magnitude = bits & 0x7f;
        if (magnitude == 0x7f) {
            assert_true(isnan(e4m3));
        } else {
            assert_true((double)e4m3 == meaning(bits, 4, 3));
        }
        if (magnitude > 0x7c) {
            assert_true(isnan(e5m2));
        } else if (magnitude == 0x7c) {
            assert_true(isinf(e5m2));
        } else {
            assert_true((double)e5m2 == meaning(bits, 5, 2));
        }
        assert_int_equal(signbit(e4m3) != 0, bits >> 7);
        assert_int_equal(signbit(e5m2) != 0, bits >> 7);
        zn_type_store(ZN_F8_E4M3, &stored, 0, e4m3);
        assert_int_equal(stored, bits);
        zn_type_store(ZN_F8_E5M2, &stored, 0, e5m2);
        assert_int_equal(stored, magnitude > 0x7c ? bits | 3 : bits);
    }
    check_rounding(ZN_F8_E4M3, 4, 3, 0x7e);
    check_rounding(ZN_F8_E5M2, 5, 2, 0x7c);
    assert_true(zn_f8_e4m3_to_f32(0x7e) == 448);
    assert_true(zn_f8_e5m2_to_f32(0x7b) == 57344);
}

// What PyTorch 2.13 makes of these, seen there: f8_e4m3 ends at its largest number, f8_e5m2 at
// infinity; every NaN is all ones.
ZN_TEST(f8_ends_as_in_pytorch)
{
    static const struct {
        float value;
        uint8_t e4m3, e5m2;
    } cases[] = {
        {448, 0x7e, 0x5f},      {464, 0x7e, 0x5f},       {464.01f, 0x7e, 0x5f},
        {480, 0x7e, 0x60},      {57344, 0x7e, 0x7b},     {61439, 0x7e, 0x7b},
        {61440, 0x7e, 0x7c},    {1e9f, 0x7e, 0x7c},      {-1e9f, 0xfe, 0xfc},
        {INFINITY, 0x7e, 0x7c}, {-INFINITY, 0xfe, 0xfc}, {NAN, 0x7f, 0x7f},
        {-NAN, 0xff, 0xff},     {0x1p-10f, 0x00, 0x14},  {0x1.0002p-10f, 0x01, 0x14},
        {0x1p-17f, 0x00, 0x00}, {-0.0f, 0x80, 0x80},     {0x1.0002p-17f, 0x00, 0x01},
        {FLT_MAX, 0x7e, 0x7c},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t stored[2];
        zn_type_store(ZN_F8_E4M3, stored, 0, cases[i].value);
        zn_type_store(ZN_F8_E5M2, stored, 1, cases[i].value);
        assert_int_equal(stored[0], cases[i].e4m3);
        assert_int_equal(stored[1], cases[i].e5m2);
    }
}

// The pattern whose value is nearest, by looking at all of them; between two, the even one. Past
// the last number there is one more, at the place where the next would be.
static unsigned nearest(const double *values, unsigned last, double beyond, double wanted)
{
    unsigned best = 0;
    double least = INFINITY;
    for (unsigned i = 0; i <= last + 1; i++) {
        const double distance = fabs((i <= last ? values[i] : beyond) - wanted);
        if (distance < least || (distance == least && i % 2 == 0)) best = i, least = distance;
    }
    return best;
}

ZN_TEST(f8_rounds_to_the_nearest)
{
    enum { STEP = 30011 }; // a prime: 143 thousand of all patterns of f32
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP) {
        const float value = float_of((uint32_t)bits);
        if (!isfinite(value)) continue;
        const unsigned sign = signbit(value) ? 0x80 : 0;
        const double wanted = fabs((double)value);
        uint8_t stored[2];
        zn_type_store(ZN_F8_E4M3, stored, 0, value);
        zn_type_store(ZN_F8_E5M2, stored, 1, value);
        const unsigned e4m3 = nearest(e4m3_values, 0x7e, 480, wanted);
        assert_int_equal(stored[0], (e4m3 < 0x7e ? e4m3 : 0x7e) | sign);
        assert_int_equal(stored[1], nearest(e5m2_values, 0x7b, 65536, wanted) | sign);
    }
}

ZN_TEST(f8_known_values)
{
    for (unsigned bits = 0; bits <= 0xff; bits++) {
        const double sign = bits & 0x80 ? -1 : 1;
        const double e4m3 = (double)zn_f8_e4m3_to_f32((uint8_t)bits);
        const double e5m2 = (double)zn_f8_e5m2_to_f32((uint8_t)bits);
        const double known[2] = {sign * e4m3_values[bits & 0x7f], sign * e5m2_values[bits & 0x7f]};
        assert_true(isnan(known[0]) ? isnan(e4m3) : e4m3 == known[0]);
        assert_true(isnan(known[1]) ? isnan(e5m2) : e5m2 == known[1]);
        const uint8_t byte = (uint8_t)bits;
        const float loaded = zn_type_load(ZN_F8_E5M2, &byte, 0);
        assert_true(isnan(known[1]) ? isnan(loaded) : (double)loaded == known[1]);
    }
}

ZN_TEST(integers_saturate)
{
    static const struct {
        zn_type type;
        double low, high; // as f32 holds them
    } cases[] = {
        {ZN_U8, 0, 255},    {ZN_S8, -128, 127},        {ZN_S16, -32768, 32767},
        {ZN_U16, 0, 65535}, {ZN_S32, -0x1p31, 0x1p31}, {ZN_S64, -0x1p63, 0x1p63},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        _Alignas(8) uint8_t buffer[3 * 8 + 1];
        zn_type type = cases[i].type;
        uint8_t *odd = buffer + 1; // elements need no alignment
        static const float probes[] = {0.5f, 1.5f, 2.5f, 1.25f, 100, NAN, 0};
        static const float expected[] = {0, 2, 2, 1, 100, 0, 0};
        for (size_t j = 0; j < sizeof probes / sizeof *probes; j++) {
            memset(buffer, 0xaa, sizeof buffer);
            zn_type_store(type, odd, 1, probes[j]);
            assert_true(zn_type_load(type, odd, 1) == expected[j]);
            size_t size = zn_type_size(type);
            for (size_t k = 0; k < size; k++) { // the neighbours are as before
                assert_int_equal(odd[k], 0xaa);
                assert_int_equal(odd[2 * size + k], 0xaa);
            }
        }
        static const float huge[] = {1e30f, INFINITY, FLT_MAX};
        for (size_t j = 0; j < 3; j++) {
            zn_type_store(type, odd, 0, huge[j]);
            assert_true((double)zn_type_load(type, odd, 0) == cases[i].high);
            zn_type_store(type, odd, 0, -huge[j]);
            assert_true((double)zn_type_load(type, odd, 0) == cases[i].low);
        }
    }
    int32_t s32;
    int64_t s64;
    zn_type_store(ZN_S32, &s32, 0, 0x1p31f);
    assert_int_equal(s32, INT32_MAX);
    zn_type_store(ZN_S64, &s64, 0, 0x1p63f);
    assert_true(s64 == INT64_MAX);
    zn_type_store(ZN_S64, &s64, 0, -0x1p63f);
    assert_true(s64 == INT64_MIN);
}

ZN_TEST(wide_floats_and_bool)
{
    double f64[2];
    float f32[2];
    uint8_t flag[2] = {7, 7};
    zn_type_store(ZN_F64, f64, 1, 0.1f);
    assert_true(f64[1] == (double)0.1f);
    f64[0] = 1e300;
    assert_true(isinf(zn_type_load(ZN_F64, f64, 0)));
    zn_type_store(ZN_F32, f32, 1, -0.0f);
    assert_int_equal(bits_of(zn_type_load(ZN_F32, f32, 1)), 0x80000000u);
    zn_type_store(ZN_BOOL, flag, 0, -3);
    zn_type_store(ZN_BOOL, flag, 1, NAN);
    assert_int_equal(flag[0], 1);
    assert_int_equal(flag[1], 0);
    flag[1] = 9;
    assert_true(zn_type_load(ZN_BOOL, flag, 1) == 1);
}

ZN_TEST(names_and_sizes)
{
    for (int type = 0; type < ZN_TYPE_COUNT; type++) {
        size_t size = zn_type_size((zn_type)type);
        assert_true(size == 1 || size == 2 || size == 4 || size == 8);
        assert_non_null(zn_type_name((zn_type)type));
        for (int other = 0; other < type; other++) {
            assert_string_not_equal(zn_type_name((zn_type)type), zn_type_name((zn_type)other));
        }
    }
    assert_string_equal(zn_type_name(ZN_F8_E4M3), "f8_e4m3");
    assert_int_equal(zn_type_size(ZN_TYPE_COUNT), 0);
    assert_string_equal(zn_type_name(ZN_TYPE_COUNT), "unknown");
}

// Each kind of number in each place of a row, at every alignment, against its value as f32.
ZN_TEST(finite_numbers)
{
    enum { N = 37 };
    static const float values[] = {NAN, INFINITY, -INFINITY, 65504, -448, 1e-40f, 0};
    static const zn_type types[] = {ZN_F32,     ZN_BF16, ZN_BF16X2, ZN_F16,
                                    ZN_F8_E4M3, ZN_F64,  ZN_F8_E5M2};
    uint8_t bytes[N * sizeof(double) + sizeof(double)];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            for (size_t at = 0; at < N; at++) {
                uint8_t *row = bytes + at % 8;
                for (size_t i = 0; i < N; i++)
                    zn_type_store(types[t], row, i, i == at ? values[v] : -1.5f);
                const bool is = isfinite(zn_type_load(types[t], row, at));
                assert_int_equal(zn_all_finite(types[t], row, N), is);
                assert_true(zn_all_finite(types[t], row, at)); // those before it
            }
        }
    }
    memset(bytes, 0xff, sizeof bytes);
    assert_true(zn_all_finite(ZN_U8, bytes, sizeof bytes));
    assert_false(zn_all_finite(ZN_F8_E4M3, bytes, 1));
    assert_true(zn_all_finite(ZN_F32, bytes, 0));
}
