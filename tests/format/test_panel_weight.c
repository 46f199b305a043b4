// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Packing into panels: how far what is read back is from the weights, beside GGUF's Q4_0, and what
// rotation does for columns that are much larger than others.
#include "src/format/tensor/panel_weight.h"

#include "src/base/memory.h"
#include "src/base/random.h"
#include "src/format/tensor/convrot.h"
#include "tests/testing.h"

#include <math.h>
#include <string.h>

enum { MOST_OUTPUTS = 64, MOST_INPUTS = 1024, TOKENS = 8 };

typedef struct packed {
    zn_panels panels;
    zn_panel_error error;
} packed;

static float matrix[MOST_OUTPUTS][MOST_INPUTS];

static void free_packed(packed *p)
{
    zn_free((void *)(uintptr_t)p->panels.numbers);
    zn_free((void *)(uintptr_t)p->panels.steps);
    zn_free((void *)(uintptr_t)p->panels.scales);
    zn_free((void *)(uintptr_t)p->panels.sums);
}

static packed pack(int outputs, int inputs, int bits, size_t rotated_by)
{
    zn_panels_size size;
    float row[MOST_INPUTS];
    int8_t bytes[MOST_INPUTS];
    packed p = {.error = {0}};
    assert_true(zn_panels_measure(outputs, inputs, bits, &size));
    const zn_panel_kind kind = {inputs, size.padded_inputs, bits, rotated_by};
    uint8_t *numbers = zn_alloc(size.numbers_bytes), *steps = zn_alloc(size.steps_bytes);
    float *scales = zn_alloc(size.scales_bytes);
    int32_t *sums = zn_alloc(size.scales_bytes);
    for (int r = 0; r < size.panels * ZN_PANEL_OUTPUTS; r++) {
        const int panel = r / ZN_PANEL_OUTPUTS, place = r % ZN_PANEL_OUTPUTS;
        const zn_panel_target dst = {
            numbers + (size_t)panel * (size.numbers_bytes / (size_t)size.panels),
            steps + (size_t)panel * (size.steps_bytes / (size_t)size.panels),
            scales + panel * ZN_PANEL_OUTPUTS, sums + panel * ZN_PANEL_OUTPUTS};
        if (place == 0) zn_panel_clear(&kind, &dst);
        if (r >= outputs) continue;
        memcpy(row, matrix[r], (size_t)inputs * sizeof *row);
        assert_true(zn_panel_pack(&kind, place, row, bytes, &dst, &p.error));
    }
    p.panels = (zn_panels){.outputs = outputs,
                           .inputs = inputs,
                           .bits = bits,
                           .rotated_by = (int64_t)rotated_by,
                           .numbers = numbers,
                           .steps = steps,
                           .scales = scales,
                           .sums = sums};
    return p;
}

static void fill_normal(uint64_t seed, int outputs, int inputs)
{
    zn_random random = {seed, 0};
    for (int r = 0; r < outputs; r++)
        for (int k = 0; k < inputs; k++) matrix[r][k] = 0.02f * zn_random_normal(&random);
}

static double relative(const zn_panel_error *error)
{
    return sqrt(error->squared / error->whole);
}

// The error that packing says is that of what is read, and sums are those of the bytes.
static void check_error(const packed *p)
{
    double squared = 0;
    for (int r = 0; r < p->panels.outputs; r++) {
        float row[MOST_INPUTS], wanted[MOST_INPUTS];
        double sum = 0;
        zn_panels_read(&p->panels, r, row);
        memcpy(wanted, matrix[r], sizeof wanted);
        if (p->panels.rotated_by)
            zn_convrot_row(wanted, (size_t)p->panels.inputs, (size_t)p->panels.rotated_by);
        for (int k = 0; k < p->panels.inputs; k++) {
            squared += ((double)row[k] - (double)wanted[k]) * ((double)row[k] - (double)wanted[k]);
            sum += (double)row[k];
        }
        assert_true(fabs(sum - (double)p->panels.sums[r] * (double)p->panels.scales[r]) <=
                    1e-4 * fabs(sum) + 1e-6);
    }
    assert_true(fabs(squared - p->error.squared) <= 1e-4 * squared);
}

ZN_TEST(eight_bits_are_within_half_a_step)
{
    const int sizes[][2] = {{1, 1}, {33, 70}, {64, 1024}, {40, 256}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fill_normal(i, sizes[i][0], sizes[i][1]);
        packed p = pack(sizes[i][0], sizes[i][1], 8, 0);
        check_error(&p);
        for (int r = 0; r < sizes[i][0]; r++) {
            float row[MOST_INPUTS], largest = 0;
            zn_panels_read(&p.panels, r, row);
            for (int k = 0; k < sizes[i][1]; k++) {
                largest = fmaxf(largest, fabsf(matrix[r][k]));
                assert_true(fabsf(row[k] - matrix[r][k]) <= 0.50001f * p.panels.scales[r]);
            }
            assert_float_equal(p.panels.scales[r], largest / 127, 0);
        }
        free_packed(&p);
    }
}

static int step_of(const zn_panels *p, int output, int k)
{
    const int groups = (int)((p->inputs + 127) / 128 * 2);
    return p->steps[(output / 32 * groups + k / 64) * 32 + output % 32];
}

// Where a number is not one of the ends, which stand for what is beyond them too.
ZN_TEST(four_bits_are_within_half_a_step)
{
    const int sizes[][2] = {{1, 1}, {33, 70}, {64, 1024}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int inside = 0, ends = 0;
        fill_normal(7 + i, sizes[i][0], sizes[i][1]);
        packed p = pack(sizes[i][0], sizes[i][1], 4, 0);
        check_error(&p);
        for (int r = 0; r < sizes[i][0]; r++) {
            float row[MOST_INPUTS];
            zn_panels_read(&p.panels, r, row);
            for (int k = 0; k < sizes[i][1]; k++) {
                const int m = step_of(&p.panels, r, k);
                assert_in_range(m, 1, 15);
                const float step = (float)m * p.panels.scales[r];
                const bool end = row[k] < -7.5f * step || row[k] > 6.5f * step;
                if (!end) assert_true(fabsf(row[k] - matrix[r][k]) <= 0.50001f * step);
                assert_true(fabsf(row[k]) <= fabsf(matrix[r][k]) + 0.50001f * step);
                inside += !end, ends += end;
            }
        }
        if (sizes[i][1] > 1) assert_true(inside > 10 * ends);
        free_packed(&p);
    }
}

// GGUF's Q4_0: 32 weights share a scale of 16 bits, the largest in size over -8.
static double q4_0_error(int outputs, int inputs)
{
    double squared = 0, whole = 0;
    for (int r = 0; r < outputs; r++)
        for (int g = 0; g < inputs; g += 32) {
            float largest = 0;
            for (int k = g; k < g + 32; k++)
                if (fabsf(matrix[r][k]) > fabsf(largest)) largest = matrix[r][k];
            const float scale = largest / -8;
            for (int k = g; k < g + 32; k++) {
                const float number = fminf(15, floorf(matrix[r][k] / scale + 8.5f));
                const double rest = (double)matrix[r][k] - (double)((number - 8) * scale);
                squared += rest * rest;
                whole += (double)matrix[r][k] * (double)matrix[r][k];
            }
        }
    return sqrt(squared / whole);
}

// 4.125 bits beside 4.5. Of groups of 64 with any step at all, normal weights lose 11 % more than
// Q4_0's.
ZN_TEST(four_bits_beside_q4_0)
{
    fill_normal(11, MOST_OUTPUTS, MOST_INPUTS);
    packed p = pack(MOST_OUTPUTS, MOST_INPUTS, 4, 0);
    const double ours = relative(&p.error), theirs = q4_0_error(MOST_OUTPUTS, MOST_INPUTS);
    print_message("4-bit panels: error %.5f; Q4_0: %.5f\n", ours, theirs);
    assert_true(ours < 1.13 * theirs);
    free_packed(&p);
}

// --- products with tokens of 8 bits

static float tokens[TOKENS][MOST_INPUTS];

static void round_token(float *token, int inputs)
{
    float largest = 0;
    for (int k = 0; k < inputs; k++) largest = fmaxf(largest, fabsf(token[k]));
    const float scale = largest / 127;
    for (int k = 0; k < inputs; k++) token[k] = scale * rintf(token[k] / scale);
}

// The relative error of tokens times weights, both rounded.
static double product_error(int outputs, int inputs, int bits, size_t rotated_by)
{
    packed p = pack(outputs, inputs, bits, rotated_by);
    double squared = 0, whole = 0;
    for (int t = 0; t < TOKENS; t++) {
        float token[MOST_INPUTS], row[MOST_INPUTS];
        memcpy(token, tokens[t], sizeof token);
        if (rotated_by) zn_convrot_row(token, (size_t)inputs, rotated_by);
        round_token(token, inputs);
        for (int r = 0; r < outputs; r++) {
            double right = 0, got = 0;
            zn_panels_read(&p.panels, r, row);
            for (int k = 0; k < inputs; k++) {
                right += (double)tokens[t][k] * (double)matrix[r][k];
                got += (double)token[k] * (double)row[k];
            }
            squared += (right - got) * (right - got);
            whole += right * right;
        }
    }
    free_packed(&p);
    return sqrt(squared / whole);
}

static void fill_tokens(float heavy)
{
    zn_random random = {5, 0};
    for (int t = 0; t < TOKENS; t++)
        for (int k = 0; k < MOST_INPUTS; k++)
            tokens[t][k] = zn_random_normal(&random) * (k % 300 == 17 ? heavy : 1.0f);
}

static void compare_rotation(const char *what, int bits, double most)
{
    const double plain = product_error(MOST_OUTPUTS, MOST_INPUTS, bits, 0);
    const double rotated = product_error(MOST_OUTPUTS, MOST_INPUTS, bits, ZN_PANEL_ROTATION);
    print_message("%s, %d bits, tokens of 8: error %.5f, rotated %.5f\n", what, bits, plain,
                  rotated);
    assert_true(rotated < most * plain);
}

ZN_TEST(rotation_helps_heavy_columns)
{
    fill_normal(13, MOST_OUTPUTS, MOST_INPUTS);
    fill_tokens(50);
    compare_rotation("heavy tokens", 8, 0.2);
    compare_rotation("heavy tokens", 4, 0.9);
    fill_tokens(1);
    for (int r = 0; r < MOST_OUTPUTS; r++)
        for (int k = 17; k < MOST_INPUTS; k += 300) matrix[r][k] *= 50;
    compare_rotation("heavy weights", 8, 0.7);
    compare_rotation("heavy weights", 4, 0.7);
}

ZN_TEST(quick_rotation_is_the_same)
{
    for (size_t group = 4; group <= ZN_CONVROT_MOST; group *= 4) {
        float slow[ZN_CONVROT_MOST], quick[ZN_CONVROT_MOST];
        zn_random random = {group, 0};
        for (size_t i = 0; i < ZN_CONVROT_MOST; i++) slow[i] = quick[i] = zn_random_normal(&random);
        zn_convrot_row(slow, ZN_CONVROT_MOST, group);
        zn_convrot_quick(quick, ZN_CONVROT_MOST, group);
        for (size_t i = 0; i < ZN_CONVROT_MOST; i++) assert_true(fabsf(slow[i] - quick[i]) < 1e-5f);
    }
}

// --- special rows

static bool packs(int bits, float strange)
{
    uint8_t numbers[128 * 32], steps[2 * 32];
    float scales[32], row[128] = {1, 2, 3};
    int32_t sums[32];
    int8_t bytes[128];
    zn_panel_error error = {0};
    const zn_panel_kind kind = {100, 128, bits, 0};
    const zn_panel_target dst = {numbers, steps, scales, sums};
    zn_panel_clear(&kind, &dst);
    row[99] = strange;
    row[100] = NAN; // beyond the inputs: not looked at
    return zn_panel_pack(&kind, 3, row, bytes, &dst, &error);
}

ZN_TEST(numbers_that_are_none)
{
    for (int bits = 4; bits <= 8; bits += 4) {
        assert_true(packs(bits, 4));
        assert_true(packs(bits, 1e-42f));
        assert_true(packs(bits, -1e17f));
        assert_false(packs(bits, 3e38f));
        assert_false(packs(bits, NAN));
        assert_false(packs(bits, INFINITY));
        assert_false(packs(bits, -INFINITY));
    }
}

ZN_TEST(zeros_and_one_group)
{
    memset(matrix, 0, sizeof matrix);
    matrix[1][70] = -3;
    matrix[2][5] = 1e-40f;
    packed p = pack(3, 200, 4, 0);
    float row[MOST_INPUTS];
    for (int r = 0; r < 3; r += 2) {
        zn_panels_read(&p.panels, r, row);
        for (int k = 0; k < 200; k++) assert_true(row[k] == 0);
    }
    zn_panels_read(&p.panels, 1, row);
    for (int k = 0; k < 200; k++) assert_true(fabsf(row[k] - matrix[1][k]) < 1e-6f);
    assert_int_equal(step_of(&p.panels, 1, 0), 0);
    assert_int_not_equal(step_of(&p.panels, 1, 70), 0);
    assert_int_equal(((const uint8_t *)p.panels.numbers)[0], 0x88);
    free_packed(&p);
}
