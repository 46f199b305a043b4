// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Panels (src/tensor/panels.h) put together number by number, for tests.
#ifndef ZN_TESTS_TENSOR_MADE_PANELS_H
#define ZN_TESTS_TENSOR_MADE_PANELS_H

#include "src/base/memory.h"
#include "src/base/random.h"
#include "src/tensor/panels.h"
#include "tests/testing.h"

#include <string.h>

typedef struct made_panels {
    zn_panels is;
    uint8_t *numbers, *steps;
    float *scales;
    int32_t *sums;
    int16_t *factors, *offsets; // of others' 4 bits
} made_panels;

// Where the byte of an output and a k is; of 4 bits, where its pair is.
static inline size_t made_place(const zn_panels_size *size, int bits, int64_t output, int64_t k)
{
    const int64_t quads = size->padded_inputs / 4, group = bits == 8 ? k / 4 : k / 8;
    const int64_t groups = bits == 8 ? quads : quads / 2;
    return (size_t)(((output / 32 * groups + group) * 32 + output % 32) * 4 + k % 4);
}

static inline void made_set(made_panels *made, const zn_panels_size *size, int64_t output,
                            int64_t k, int number)
{
    const size_t at = made_place(size, made->is.bits, output, k);
    if (made->is.bits == 8)
        made->numbers[at] = (uint8_t)number;
    else if (k / 4 % 2)
        made->numbers[at] = (uint8_t)((made->numbers[at] & 15) | number << 4);
    else
        made->numbers[at] = (uint8_t)((made->numbers[at] & 0xf0) | number);
}

static inline made_panels panels_begin(int64_t outputs, int64_t inputs, int bits,
                                       zn_panels_size *size)
{
    assert_true(zn_panels_measure(outputs, inputs, bits, size));
    made_panels made = {.is = {.outputs = outputs, .inputs = inputs, .bits = bits},
                        .numbers = zn_alloc_zero(size->numbers_bytes),
                        .steps = zn_alloc_zero(size->steps_bytes + 1),
                        .scales = zn_alloc_zero(size->scales_bytes),
                        .sums = zn_alloc_zero(size->scales_bytes)};
    assert_true(made.numbers && made.steps && made.scales && made.sums);
    made.is.numbers = made.numbers;
    made.is.steps = bits == 4 ? made.steps : NULL;
    made.is.scales = made.scales;
    made.is.sums = made.sums;
    return made;
}

static inline void panels_end(made_panels *made)
{
    zn_panels_size size;
    assert_true(zn_panels_measure(made->is.outputs, made->is.inputs, made->is.bits, &size));
    for (int64_t o = 0; o < made->is.outputs; o++)
        for (int64_t k = 0; k < made->is.inputs; k++)
            made->sums[o] += zn_panels_byte(&made->is, size.padded_inputs, o, k);
}

// Bytes [outputs][inputs] with a scale for each row.
static inline made_panels panels_of_bytes(int64_t outputs, int64_t inputs, const int8_t *bytes,
                                          const float *scales)
{
    zn_panels_size size;
    made_panels made = panels_begin(outputs, inputs, 8, &size);
    for (int64_t o = 0; o < outputs; o++)
        for (int64_t k = 0; k < inputs; k++) made_set(&made, &size, o, k, bytes[o * inputs + k]);
    memcpy(made.scales, scales, (size_t)outputs * sizeof *scales);
    panels_end(&made);
    return made;
}

static inline made_panels panels_of_random(int64_t outputs, int64_t inputs, int bits,
                                           zn_random *random)
{
    zn_panels_size size;
    made_panels made = panels_begin(outputs, inputs, bits, &size);
    if (bits == 4) memset(made.numbers, 0x88, size.numbers_bytes);
    for (int64_t o = 0; o < outputs; o++) {
        for (int64_t k = 0; k < inputs; k++)
            made_set(&made, &size, o, k,
                     bits == 8 ? (int)zn_random_below(random, 255) - 127
                               : (int)zn_random_below(random, 16));
        for (int64_t g = 0; bits == 4 && g < size.padded_inputs / 64; g++)
            made.steps[(o / 32 * (size.padded_inputs / 64) + g) * 32 + o % 32] = (uint8_t)
                zn_random_below(random, 16);
        made.scales[o] = 0.001f * (1 + zn_random_unit(random));
    }
    panels_end(&made);
    return made;
}

// Others' 4 bits; `group` divides the inputs.
static inline made_panels panels_of_fours(int64_t outputs, int64_t inputs, int64_t group,
                                          bool offsets, zn_random *random)
{
    static int8_t levels[16];
    zn_panels_size size;
    made_panels made = panels_begin(outputs, inputs, 4, &size);
    const size_t count = size.numbers_bytes * 2 / (size_t)group;
    made.factors = zn_alloc_zero(count * sizeof *made.factors);
    made.offsets = zn_alloc_zero(count * sizeof *made.offsets);
    assert_true(made.factors && made.offsets);
    for (int i = 0; i < 16; i++) levels[i] = (int8_t)(zn_random_below(random, 256) - 128);
    for (size_t i = 0; i < size.numbers_bytes; i++)
        made.numbers[i] = (uint8_t)zn_random_below(random, 256);
    for (size_t i = 0; i < count; i++) {
        const int64_t g = (int64_t)i / 32 % (size.padded_inputs / group);
        if (g >= inputs / group) continue; // what fills up is zero
        made.factors[i] = (int16_t)((int)zn_random_below(random, 65535) - 32767);
        made.offsets[i] = (int16_t)((int)zn_random_below(random, 65536) - 32768);
    }
    for (int64_t o = 0; o < outputs; o++) made.scales[o] = 0.001f * (1 + zn_random_unit(random));
    made.is.steps = NULL;
    made.is.factors = made.factors;
    made.is.offsets = offsets ? made.offsets : NULL;
    made.is.levels = levels;
    made.is.group = group;
    panels_end(&made);
    return made;
}

static inline void panels_free(made_panels *made)
{
    zn_free(made->factors);
    zn_free(made->offsets);
    zn_free(made->numbers);
    zn_free(made->steps);
    zn_free(made->scales);
    zn_free(made->sums);
}

#endif
