// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Philox against published answers, and the distributions made from it.
#include "tests/testing.h"

#include "src/base/random.h"

#include <math.h>
#include <stdbool.h>

// The known answers that the generator's authors publish (Random123, kat_vectors, philox4x32 10).
ZN_TEST(known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[4];
        zn_philox4x32(cases[i].counter, cases[i].key, out);
        assert_memory_equal(out, cases[i].expected, sizeof out);
    }
}

ZN_TEST(sequence_is_a_function_of_position)
{
    zn_random random = {.seed = 0x123456789abcdef0u, .position = ((uint64_t)1 << 35) - 6};
    for (int i = 0; i < 16; i++) {
        uint64_t position = random.position;
        const uint32_t counter[4] = {(uint32_t)(position / 4), (uint32_t)(position / 4 >> 32)};
        const uint32_t key[2] = {0x9abcdef0u, 0x12345678u};
        uint32_t block[4];
        zn_philox4x32(counter, key, block);
        assert_int_equal(zn_random_u32(&random), block[position % 4]);
        assert_int_equal(random.position, position + 1);
    }
}

ZN_TEST(below_is_even)
{
    enum { BOUND = 7, DRAWS = 70000 };
    zn_random random = {.seed = 5};
    int seen[BOUND] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint32_t value = zn_random_below(&random, BOUND);
        assert_true(value < BOUND);
        seen[value]++;
    }
    // Each is binomial with deviation 93; the seed is fixed.
    for (int i = 0; i < BOUND; i++) assert_in_range(seen[i], 9600, 10400);
    for (int i = 0; i < 100; i++) assert_int_equal(zn_random_below(&random, 1), 0);
    // With this bound a third of all draws must be thrown away, else the lower half is likelier.
    int low = 0;
    for (int i = 0; i < 20000; i++) low += zn_random_below(&random, 3u << 30) < 3u << 29;
    assert_in_range(low, 9700, 10300);
}

ZN_TEST(unit_and_normal)
{
    enum { DRAWS = 100000 };
    zn_random random = {.seed = 11};
    double sum = 0, square = 0, mean = 0;
    bool outside = false;
    for (int i = 0; i < DRAWS; i++) {
        float unit = zn_random_unit(&random);
        outside |= !(unit >= 0 && unit < 1);
        mean += unit;
    }
    assert_false(outside);
    assert_true(fabs(mean / DRAWS - 0.5) < 0.005);
    uint64_t before = random.position;
    for (int i = 0; i < DRAWS; i++) {
        float normal = zn_random_normal(&random);
        outside |= !isfinite(normal);
        sum += normal;
        square += (double)normal * normal;
    }
    assert_false(outside);
    assert_int_equal(random.position - before, 2 * DRAWS);
    assert_true(fabs(sum / DRAWS) < 0.015);
    assert_true(fabs(square / DRAWS - 1) < 0.02);
}
