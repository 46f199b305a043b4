// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar version, the packing of weights, and the version in vectors. See conv_doubled.h.
//
//     v [4][row][column][channel]          the pixels; their differences across, down, and both.
//                                          One row and one column more than the area: R reads those
//                                          of the next pixel
//     for each 2 vectors of output channels:
//         m [row][column][point][2 vectors]    a product of matrices per point and row
//         the four results of each pixel
#include "src/kernel/conv/conv_doubled.h"

#include "src/base/memory.h"
#include "src/kernel/conv/conv_product.h"
#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

// How a weight or a difference is made along one axis.
enum { AXIS_S, AXIS_L, AXIS_R, AXIS_KINDS, DOUBLED_POINTS = AXIS_KINDS * AXIS_KINDS };

// The pixel of row `row` (0: the one in which the result's first row lies) and column x of the
// small map; NULL where it counts as zero, or is above or below what the call has, so that no
// result needs it.
static inline const float *doubled_pixel(const zn_doubled_args *a, int64_t row, int64_t x)
{
    const int64_t first = zn_doubled_half(a->row - 1), last = zn_doubled_half(a->row + a->rows);
    const int64_t at = zn_doubled_half(a->row) + row;
    if (at < first || at > last || x < 0 || x >= a->width) return NULL;
    return a->src + ((at - first) * a->width + x) * a->channels_in;
}

// The pixel of the result in the place of the small map's (row, x), `down` below and `right` beside
// the first of the four; NULL where its row is not asked for.
static inline float *doubled_result(const zn_doubled_args *a, int64_t row, int64_t x, int down,
                                    int right)
{
    const int64_t at = 2 * (zn_doubled_half(a->row) + row) + down - a->row;
    if (at < 0 || at >= a->rows) return NULL;
    return a->dst + (at * 2 * a->width + 2 * x + right) * a->channels_out;
}

#ifdef ZN_BASELINE // the specification

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

// As the vectors below lay it out; the scalar version needs less.
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

void zn_doubled_reference(const zn_doubled_args *a, const zn_area *area, float *scratch)
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

#else // in vectors

typedef struct doubled {
    const zn_doubled_args *args;
    const zn_area *area;
    float *v, *m;
    int64_t pixel_step, row_step, kind_step; // of v
} doubled;

ALWAYS_INLINE vec load_pixel(const float *pixel, int64_t channel)
{
    return pixel ? vec_load_f32(pixel + channel) : vec_zero();
}

static void transform_pixel(const doubled *d, int64_t row, int64_t x, float *v)
{
    const zn_doubled_args *a = d->args;
    const float *here = doubled_pixel(a, row, x), *left = doubled_pixel(a, row, x - 1);
    const float *above = doubled_pixel(a, row - 1, x), *corner = doubled_pixel(a, row - 1, x - 1);
    for (int64_t c = 0; c < a->channels_in; c += LANES, v += LANES) {
        const vec pixel = load_pixel(here, c), up = load_pixel(above, c);
        const vec across = vec_sub(pixel, load_pixel(left, c));
        vec_store_f32(v, pixel);
        vec_store_f32(v + d->kind_step, across);
        vec_store_f32(v + 2 * d->kind_step, vec_sub(pixel, up));
        vec_store_f32(v + 3 * d->kind_step, vec_sub(across, vec_sub(up, load_pixel(corner, c))));
    }
}

static void transform_area(const doubled *d)
{
    float *v = d->v;
    for (int64_t row = 0; row <= d->area->rows; row++) {
        for (int64_t x = 0; x <= d->area->columns; x++, v += d->pixel_step) {
            transform_pixel(d, d->area->row + row, d->area->column + x, v);
        }
    }
}

static void multiply_area(const doubled *d, int64_t channel, int vectors)
{
    const int64_t channels = d->args->channels_in, columns = d->area->columns;
    const int64_t within = channel % ZN_DOUBLED_BLOCK;
    product p = {
        .left_step = d->pixel_step,
        .right = d->args->packed + (channel - within) * DOUBLED_POINTS * channels + within,
        .second = product_second(DOUBLED_POINTS * channels * PRODUCT_BLOCK),
        .k_count = channels,
        .dst_step = DOUBLED_POINTS * PRODUCT_ROW,
    };
    for (int64_t i = 0; i < DOUBLED_POINTS; i++, p.right += channels * PRODUCT_BLOCK) {
        const int64_t down = i / AXIS_KINDS, across = i % AXIS_KINDS;
        const float *v = d->v + (2 * (down != AXIS_S) + (across != AXIS_S)) * d->kind_step +
                         (down == AXIS_R) * d->row_step + (across == AXIS_R) * d->pixel_step;
        for (int64_t row = 0; row < d->area->rows; row++) {
            p.left = v + row * d->row_step;
            p.dst = d->m + (row * columns * DOUBLED_POINTS + i) * PRODUCT_ROW;
            product_run(p, columns, vectors);
        }
    }
}

// One result: the sums of S and of L or R, in both directions.
ALWAYS_INLINE vec finish_vector(const float *m, const int vertical, const int horizontal, vec bias)
{
    const float *v = m + vertical * AXIS_KINDS * PRODUCT_ROW;
    const vec above = vec_add(vec_load_f32(m), vec_load_f32(m + horizontal * PRODUCT_ROW));
    const vec below = vec_add(vec_load_f32(v), vec_load_f32(v + horizontal * PRODUCT_ROW));
    return vec_add(vec_add(above, below), bias);
}

static void finish_area(const doubled *d, int64_t channel, int vectors)
{
    const zn_doubled_args *a = d->args;
    const float *m = d->m;
    for (int64_t i = 0; i < d->area->rows * d->area->columns;
         i++, m += DOUBLED_POINTS * PRODUCT_ROW) {
        const int64_t row = d->area->row + i / d->area->columns;
        const int64_t x = d->area->column + i % d->area->columns;
        UNROLL
        for (int r = 0; r < 4; r++) {
            float *dst = doubled_result(a, row, x, r / 2, r % 2);
            if (!dst) continue;
            for (int v = 0; v < vectors; v++) {
                const int64_t at = channel + v * LANES;
                const vec bias = a->bias ? vec_load_f32(a->bias + at) : vec_zero();
                vec_store_f32(dst + at, finish_vector(m + v * LANES, r / 2 ? AXIS_R : AXIS_L,
                                                      r % 2 ? AXIS_R : AXIS_L, bias));
            }
        }
    }
}

void VERSION(zn_doubled)(const zn_doubled_args *args, const zn_area *area, float *scratch)
{
    const int64_t pixel_step = args->channels_in + ZN_DOUBLED_APART;
    const int64_t row_step = (area->columns + 1) * pixel_step;
    const int64_t kind_step = (area->rows + 1) * row_step;
    const doubled d = {.args = args,
                       .area = area,
                       .v = scratch,
                       .m = scratch + 4 * kind_step,
                       .pixel_step = pixel_step,
                       .row_step = row_step,
                       .kind_step = kind_step};
    transform_area(&d);
    for (int64_t channel = 0; channel < args->channels_out; channel += 2 * LANES) {
        const int vectors = args->channels_out - channel > LANES ? 2 : 1;
        multiply_area(&d, channel, vectors);
        finish_area(&d, channel, vectors);
    }
}

#endif
