// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar version, which is the specification (winograd.h states it), the packing of weights,
// and the choice of a version.
#include "src/kernel/winograd.h"

#include "src/base/memory.h"
#include "src/kernel/block_sum.h"
#include "src/kernel/winograd_points.h"

enum {
    BLOCK = ZN_WINOGRAD_BLOCK,
    TILE = ZN_WINOGRAD_TILE,
    POINTS = ZN_WINOGRAD_POINTS,
    PIXELS = TILE + 2
};

bool zn_winograd_packed_bytes(int64_t channels_out, int64_t channels_in, size_t *out)
{
    size_t bytes;
    if (!zn_mul_size((size_t)channels_out, 3 * POINTS * sizeof(float), &bytes)) return false;
    return zn_mul_size(bytes, (size_t)channels_in, out);
}

zn_area zn_winograd_largest(int64_t channels_in)
{
    enum { FEW = 64 };
    return channels_in <= FEW ? (zn_area){.rows = 4, .columns = 12}
                              : (zn_area){.rows = 8, .columns = 36};
}

// As winograd_body.h lays it out; the scalar version needs less.
bool zn_winograd_scratch_bytes(int64_t channels_in, const zn_area *area, size_t *out)
{
    const size_t values = POINTS * (size_t)area->columns * sizeof(float);
    size_t v;
    if (!zn_mul_size((size_t)channels_in, values * (size_t)(area->rows + 2), &v)) return false;
    const size_t apart = values * ZN_WINOGRAD_APART;
    return zn_add_size(v, apart + values * (size_t)area->rows * 2 * BLOCK, out);
}

// G of one kernel row of BLOCK output channels, in double: p^0 w0 + p^1 w1 + p^2 w2 over the product of
// distances.
static void transform_weights(const float w[3][BLOCK], float u[POINTS][BLOCK])
{
    const double a2 = (double)A_SQUARED, b2 = (double)B_SQUARED;
    const double scale_a = 2 * a2 * (a2 - b2), scale_b = 2 * b2 * (b2 - a2);
    for (int i = 0; i < BLOCK; i++) {
        const double w0 = (double)w[0][i], w1 = (double)w[1][i], w2 = (double)w[2][i];
        u[0][i] = (float)(w0 / (double)SQUARES_AB);
        u[1][i] = (float)((w0 + a2 * w2 + (double)POINT_A * w1) / scale_a);
        u[2][i] = (float)((w0 + a2 * w2 - (double)POINT_A * w1) / scale_a);
        u[3][i] = (float)((w0 + b2 * w2 + (double)POINT_B * w1) / scale_b);
        u[4][i] = (float)((w0 + b2 * w2 - (double)POINT_B * w1) / scale_b);
        u[5][i] = w[2][i];
    }
}

// A block of output channels at a time: its lines are written whole, and once.
void zn_winograd_pack(const float *dense, int64_t channels_out, int64_t channels_in, float *packed)
{
    const int64_t weights = 9 * channels_in;
    for (int64_t out = 0; out < channels_out; out += BLOCK) {
        float *block = packed + out * POINTS * 3 * channels_in;
        for (int64_t k = 0; k < 3 * channels_in; k++) { // input channel, kernel row
            float w[3][BLOCK], u[POINTS][BLOCK];
            for (int64_t i = 0; i < BLOCK; i++)
                for (int64_t c = 0; c < 3; c++) w[c][i] = dense[(out + i) * weights + 3 * k + c];
            transform_weights(w, u);
            for (int64_t p = 0; p < POINTS; p++)
                memcpy(block + ((p * 3 + k % 3) * channels_in + k / 3) * BLOCK, u[p], sizeof u[p]);
        }
    }
}

static void transform_pixels(const float d[PIXELS], float v[POINTS])
{
    const float even_a = d[4] - B_SQUARED * d[2], odd_a = d[3] - B_SQUARED * d[1];
    const float even_b = d[4] - A_SQUARED * d[2], odd_b = d[3] - A_SQUARED * d[1];
    v[0] = (d[4] - SQUARES * d[2]) + SQUARES_AB * d[0];
    v[1] = even_a + POINT_A * odd_a;
    v[2] = even_a - POINT_A * odd_a;
    v[3] = even_b + POINT_B * odd_b;
    v[4] = even_b - POINT_B * odd_b;
    v[5] = (d[5] - SQUARES * d[3]) + SQUARES_AB * d[1];
}

static void untransform(const float m[POINTS], float y[TILE])
{
    const float even_a = m[1] + m[2], odd_a = m[1] - m[2];
    const float even_b = m[3] + m[4], odd_b = m[3] - m[4];
    y[0] = (even_a + even_b) + m[0];
    y[1] = POINT_A * odd_a + POINT_B * odd_b;
    y[2] = A_SQUARED * even_a + B_SQUARED * even_b;
    y[3] = A_SQUARED * POINT_A * odd_a + (B_SQUARED * POINT_B * odd_b + m[5]);
}

// v of one tile, [point][row][channel], from the three rows that its results read.
static void transform_tile(const zn_winograd_args *a, int64_t row, int64_t x, float *v)
{
    for (int64_t i = 0; i < 3 * a->channels_in; i++) {
        const float *line = a->src + (row + i / a->channels_in) * a->width * a->channels_in;
        float d[PIXELS], points[POINTS];
        for (int64_t j = 0; j < PIXELS; j++) {
            const int64_t column = x + j - 1;
            const bool inside = column >= 0 && column < a->width;
            d[j] = inside ? line[column * a->channels_in + i % a->channels_in] : 0.0f;
        }
        transform_pixels(d, points);
        for (int64_t p = 0; p < POINTS; p++) v[p * 3 * a->channels_in + i] = points[p];
    }
}

// Output channels [channel, channel + BLOCK) of the tile at (row, x).
static void output_block(const zn_winograd_args *a, int64_t row, int64_t x, int64_t channel,
                         const float *v)
{
    const int64_t k_count = 3 * a->channels_in;
    const float *weights = a->packed + channel * POINTS * k_count;
    float sums[POINTS][BLOCK] = {{0}};
    for (int64_t p = 0; p < POINTS; p++) {
        block_sum(v + p * k_count, k_count, weights + p * k_count * BLOCK, sums[p]);
    }
    for (int64_t c = 0; c < BLOCK; c++) {
        float m[POINTS], y[TILE];
        for (int64_t p = 0; p < POINTS; p++) m[p] = sums[p][c];
        untransform(m, y);
        for (int64_t j = 0; j < TILE && x + j < a->width; j++) {
            const int64_t at = (row * a->width + x + j) * a->out_step + channel + c;
            float value = y[j] + (a->bias ? a->bias[channel + c] : 0.0f);
            if (a->residual) value += a->residual[at];
            a->dst[at] = a->relu && value < 0 ? 0.0f : value;
        }
    }
}

static void winograd_scalar(const zn_winograd_args *a, const zn_area *area, float *scratch)
{
    for (int64_t row = area->row; row < area->row + area->rows; row++) {
        for (int64_t tile = area->column; tile < area->column + area->columns; tile++) {
            transform_tile(a, row, tile * TILE, scratch);
            for (int64_t channel = 0; channel < a->channels_out; channel += BLOCK) {
                output_block(a, row, tile * TILE, channel, scratch);
            }
        }
    }
}

static const struct {
    zn_isa isa;
    zn_winograd_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, winograd_scalar},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_winograd_avx2},
    {ZN_ISA_AVX512, zn_winograd_avx512},
#endif
};

zn_winograd_fn *zn_winograd_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
