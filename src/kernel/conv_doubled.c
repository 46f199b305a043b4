// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar version, which is the specification (conv_doubled.h states it), the packing of weights,
// and the choice of a version.
#include "src/kernel/conv_doubled.h"

#include "src/base/memory.h"
#include "src/kernel/block_sum.h"
#include "src/kernel/conv_doubled_rows.h"

enum { BLOCK = ZN_DOUBLED_BLOCK, POINTS = DOUBLED_POINTS };

bool zn_doubled_packed_bytes(int64_t channels_out, int64_t channels_in, size_t *out)
{
    size_t bytes;
    if (!zn_mul_size((size_t)channels_out, POINTS * sizeof(float), &bytes)) return false;
    return zn_mul_size(bytes, (size_t)channels_in, out);
}

zn_area zn_doubled_largest(int64_t channels_in)
{
    enum { FEW = 64 };
    return channels_in <= FEW ? (zn_area){.rows = 4, .columns = 12}
                              : (zn_area){.rows = 8, .columns = 36};
}

// As conv_doubled_body.h lays it out; the scalar version needs less.
bool zn_doubled_scratch_bytes(int64_t channels_in, const zn_area *area, size_t *out)
{
    const size_t pixels = (size_t)(area->rows + 1) * (size_t)(area->columns + 1);
    const size_t sums = (size_t)(area->rows * area->columns) * POINTS * 2 * BLOCK * sizeof(float);
    size_t v;
    if (!zn_add_size((size_t)channels_in, ZN_DOUBLED_APART, &v)) return false;
    if (!zn_mul_size(v, 4 * pixels * sizeof(float), &v)) return false;
    return zn_add_size(v, sums, out);
}

static double axis_weight(int kind, double w0, double w1, double w2)
{
    return kind == AXIS_S ? w0 + w1 + w2 : kind == AXIS_L ? -w0 : w2;
}

static float transformed(const float w[9], int vertical, int horizontal)
{
    double rows[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = axis_weight(horizontal, (double)w[3 * i], (double)w[3 * i + 1],
                              (double)w[3 * i + 2]);
    }
    return (float)axis_weight(vertical, rows[0], rows[1], rows[2]);
}

void zn_doubled_pack(const float *dense, int64_t channels_out, int64_t channels_in, float *packed)
{
    for (int64_t out = 0; out < channels_out; out++) {
        float *block = packed + out / BLOCK * POINTS * channels_in * BLOCK + out % BLOCK;
        for (int64_t in = 0; in < channels_in; in++, dense += 9) {
            for (int p = 0; p < POINTS; p++) {
                block[(p * channels_in + in) * BLOCK] = transformed(dense, p / AXIS_KINDS,
                                                                    p % AXIS_KINDS);
            }
        }
    }
}

// One channel of the pixel, less that of its left neighbour if asked for.
static float across(const zn_doubled_args *a, int64_t row, int64_t x, int64_t c, bool difference)
{
    const float *here = doubled_pixel(a, row, x);
    const float value = here ? here[c] : 0.0f;
    if (!difference) return value;
    const float *left = doubled_pixel(a, row, x - 1);
    return value - (left ? left[c] : 0.0f);
}

// What the nine products of a pixel are with: [point][channel].
static void transform_pixel(const zn_doubled_args *a, int64_t row, int64_t x, float *v)
{
    for (int p = 0; p < POINTS; p++) {
        const int vertical = p / AXIS_KINDS, horizontal = p % AXIS_KINDS;
        const int64_t y = row + (vertical == AXIS_R), column = x + (horizontal == AXIS_R);
        const bool difference = horizontal != AXIS_S;
        for (int64_t c = 0; c < a->channels_in; c++) {
            const float value = across(a, y, column, c, difference);
            *v++ = vertical == AXIS_S ? value : value - across(a, y - 1, column, c, difference);
        }
    }
}

static void output_block(const zn_doubled_args *a, int64_t row, int64_t x, int64_t channel,
                         const float *v)
{
    const float *weights = a->packed + channel * POINTS * a->channels_in;
    float m[POINTS][BLOCK] = {{0}};
    for (int p = 0; p < POINTS; p++) {
        block_sum(v + p * a->channels_in, a->channels_in, weights + p * a->channels_in * BLOCK,
                  m[p]);
    }
    for (int i = 0; i < 4; i++) {
        float *dst = doubled_result(a, row, x, i / 2, i % 2);
        const int vertical = (i / 2 ? AXIS_R : AXIS_L) * AXIS_KINDS;
        const int horizontal = i % 2 ? AXIS_R : AXIS_L;
        for (int c = 0; dst && c < BLOCK; c++) {
            const float above = m[AXIS_S][c] + m[horizontal][c];
            const float below = m[vertical][c] + m[vertical + horizontal][c];
            dst[channel + c] = (above + below) + (a->bias ? a->bias[channel + c] : 0.0f);
        }
    }
}

static void doubled_scalar(const zn_doubled_args *a, const zn_area *area, float *scratch)
{
    for (int64_t row = area->row; row < area->row + area->rows; row++) {
        for (int64_t x = area->column; x < area->column + area->columns; x++) {
            transform_pixel(a, row, x, scratch);
            for (int64_t channel = 0; channel < a->channels_out; channel += BLOCK) {
                output_block(a, row, x, channel, scratch);
            }
        }
    }
}

static const struct {
    zn_isa isa;
    zn_doubled_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, doubled_scalar},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_doubled_avx2},
    {ZN_ISA_AVX512, zn_doubled_avx512},
#endif
};

zn_doubled_fn *zn_doubled_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
