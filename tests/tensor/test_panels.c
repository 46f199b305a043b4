// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Panels of weights: sizes, and the places of numbers in 8 and in 4 bits.
#include "tests/testing.h"

#include "src/tensor/panels.h"

#include <string.h>

enum { OUTPUTS = 33, INPUTS = 70, PANELS = 2, PADDED = 128 };

ZN_TEST(sizes)
{
    zn_panels_size size;
    assert_true(zn_panels_measure(OUTPUTS, INPUTS, 4, &size));
    assert_int_equal(size.panels, PANELS);
    assert_int_equal(size.padded_inputs, PADDED);
    assert_int_equal(size.numbers_bytes, PANELS * 32 * PADDED / 2);
    assert_int_equal(size.steps_bytes, PANELS * 32 * PADDED / 64);
    assert_int_equal(size.scales_bytes, PANELS * 32 * 4);
    assert_false(zn_panels_measure(OUTPUTS, INPUTS, 5, &size));
    assert_false(zn_panels_measure(0, INPUTS, 8, &size));
    assert_false(zn_panels_measure(INT64_MAX, INPUTS, 8, &size));
}

ZN_TEST(eight_bits)
{
    static int8_t numbers[PANELS * 32 * PADDED];
    static float scales[PANELS * 32], row[INPUTS];
    scales[32] = 0.5f;
    numbers[(1 * PADDED / 4 + 17) * 128 + 0 * 4 + 1] = -127; // panel 1, output 0, k = 4 * 17 + 1
    const zn_panels panels = {
        .outputs = OUTPUTS, .inputs = INPUTS, .bits = 8, .numbers = numbers, .scales = scales};
    zn_panels_read(&panels, 32, row);
    for (int k = 0; k < INPUTS; k++) assert_float_equal(row[k], k == 69 ? -63.5f : 0.0f, 0);
}

ZN_TEST(four_bits)
{
    static uint8_t numbers[PANELS * 32 * PADDED / 2], steps[PANELS * 2 * 32];
    static float scales[PANELS * 32], row[INPUTS];
    memset(numbers, 0x88, sizeof numbers);
    scales[31] = 2;
    steps[0 * 2 * 32 + 0 * 32 + 31] = 3;  // k below 64
    steps[0 * 2 * 32 + 1 * 32 + 31] = 15; // k from 64 on
    numbers[1 * 128 + 31 * 4 + 2] = 0xF0; // k = 8 + 2 in the low half, 8 + 4 + 2 in the high one
    numbers[8 * 128 + 31 * 4 + 3] = 0x89; // k = 64 + 3 in the low half
    const zn_panels panels = {.outputs = OUTPUTS,
                              .inputs = INPUTS,
                              .bits = 4,
                              .numbers = numbers,
                              .steps = steps,
                              .scales = scales};
    zn_panels_read(&panels, 31, row);
    for (int k = 0; k < INPUTS; k++) {
        const float expected = k == 10 ? -8 * 3 * 2 : k == 14 ? 7 * 3 * 2 : k == 67 ? 15 * 2 : 0;
        assert_float_equal(row[k], expected, 0);
    }
}
