// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar version, which is the specification (winograd.h states it), the packing of weights,
// and the version in vectors.
//
// An area of a few rows and up to STRIP tiles is computed in three steps:
//
//     v [point][tile][row of src][channel]     all input channels, once
//     for each 2 vectors of output channels:
//         m [row][tile][point][2 vectors]      a product of matrices per point and row, or column
//                                              of tiles
//         dst = A m + bias + residual, ReLU
//
// In v the channels of three rows below each other are one run of floats, so a sum is one loop. The
// weights of one point (24 KB for 64 channels and 32 results) and v of one point (18 KB) stay in
// the first-level cache while the rows of the area pass; of more channels, in the second. All
// weights pass by once an area.
#include "src/kernel/conv/winograd.h"

#include "src/base/memory.h"
#include "src/kernel/conv/conv_product.h"
#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

// The points in the order 0, A, -A, B, -B, infinity. All numbers here are exact in f32. The
// matrices:
//
//     B: row of point p = the coefficients of the product of (x - q) over all finite points q but p
//        (of infinity: over all), so that
//            v[0]  = d4 - (A^2 + B^2) d2 + A^2 B^2 d0
//            v[+-A] = (d4 - B^2 d2) +- A (d3 - B^2 d1)
//            v[+-B] = (d4 - A^2 d2) +- B (d3 - A^2 d1)
//            v[inf] = d5 - (A^2 + B^2) d3 + A^2 B^2 d1
//     G: row of point p = (1, p, p^2) / product of (p - q) over the other finite points
//     A: y[i] = sum over finite p of p^i m[p], and m[inf] added to y[3]
#define POINT_A    0.75f
#define POINT_B    1.5f
#define A_SQUARED  (POINT_A * POINT_A)
#define B_SQUARED  (POINT_B * POINT_B)
#define SQUARES    (A_SQUARED + B_SQUARED)
#define SQUARES_AB (A_SQUARED * B_SQUARED)

enum { TILE = ZN_WINOGRAD_TILE, POINTS = ZN_WINOGRAD_POINTS, PIXELS = TILE + 2 };

#ifdef ZN_BASELINE // the specification

enum { BLOCK = ZN_WINOGRAD_BLOCK };

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

// As the vectors below lay it out; the scalar version needs less.
bool zn_winograd_scratch_bytes(int64_t channels_in, const zn_area *area, size_t *out)
{
    const size_t values = POINTS * (size_t)area->columns * sizeof(float);
    size_t v;
    if (!zn_mul_size((size_t)channels_in, values * (size_t)(area->rows + 2), &v)) return false;
    const size_t apart = values * ZN_WINOGRAD_APART;
    return zn_add_size(v, apart + values * (size_t)area->rows * 2 * BLOCK, out);
}

// G of one kernel row of BLOCK output channels, in double: p^0 w0 + p^1 w1 + p^2 w2 over the
// product of distances.
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

void zn_winograd_reference(const zn_winograd_args *a, const zn_area *area, float *scratch)
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

#else // in vectors

typedef struct wino {
    const zn_winograd_args *args;
    const zn_area *area;
    float *v, *m;
    int64_t tile_step;  // floats from a tile to the next in v: not all tiles in the same cache sets
    int64_t point_step; // from a point to the next in v
    int64_t block_weights;
} wino;

// --- v = B d ------------------------------------------------------------------------------------

ALWAYS_INLINE void transform_vector(const vec d[PIXELS], float *v, int64_t point_step)
{
    const vec a = vec_set1(POINT_A), b = vec_set1(POINT_B), ab = vec_set1(SQUARES_AB);
    const vec minus_a = vec_set1(-POINT_A), minus_b = vec_set1(-POINT_B);
    const vec minus_a2 = vec_set1(-A_SQUARED), minus_b2 = vec_set1(-B_SQUARED);
    const vec minus_sum = vec_set1(-SQUARES);
    const vec even_a = vec_fmadd(minus_b2, d[2], d[4]), odd_a = vec_fmadd(minus_b2, d[1], d[3]);
    const vec even_b = vec_fmadd(minus_a2, d[2], d[4]), odd_b = vec_fmadd(minus_a2, d[1], d[3]);
    vec_store_f32(v, vec_fmadd(ab, d[0], vec_fmadd(minus_sum, d[2], d[4])));
    vec_store_f32(v + point_step, vec_fmadd(a, odd_a, even_a));
    vec_store_f32(v + 2 * point_step, vec_fmadd(minus_a, odd_a, even_a));
    vec_store_f32(v + 3 * point_step, vec_fmadd(b, odd_b, even_b));
    vec_store_f32(v + 4 * point_step, vec_fmadd(minus_b, odd_b, even_b));
    vec_store_f32(v + 5 * point_step, vec_fmadd(ab, d[1], vec_fmadd(minus_sum, d[3], d[5])));
}

// Pixels [first, last) of the six lie inside the row; the others are zero.
ALWAYS_INLINE void transform_tile(const wino *w, const float *src, float *v, const int first,
                                  const int last)
{
    const int64_t channels = w->args->channels_in;
    for (int64_t c = 0; c < channels; c += LANES) {
        vec d[PIXELS];
        UNROLL
        for (int i = 0; i < PIXELS; i++) {
            d[i] = i >= first && i < last ? vec_load_f32(src + i * channels + c) : vec_zero();
        }
        transform_vector(d, v + c, w->point_step);
    }
}

static void transform_inner(const wino *w, const float *src, float *v)
{
    transform_tile(w, src, v, 0, PIXELS);
}

static void transform_edge(const wino *w, const float *src, float *v, int first, int last)
{
    transform_tile(w, src, v, first, last);
}

static void transform_area(const wino *w)
{
    const zn_winograd_args *a = w->args;
    for (int64_t row = 0; row < w->area->rows + 2; row++) {
        const float *line = a->src + (w->area->row + row) * a->width * a->channels_in;
        for (int64_t t = 0; t < w->area->columns; t++) {
            const int64_t left = (w->area->column + t) * TILE - 1, inside = a->width - left;
            const float *src = line + left * a->channels_in;
            float *v = w->v + t * w->tile_step + row * a->channels_in;
            if (left >= 0 && inside >= PIXELS)
                transform_inner(w, src, v);
            else
                transform_edge(w, src, v, left < 0, (int)(inside < PIXELS ? inside : PIXELS));
        }
    }
}

// --- m = sum of u v -----------------------------------------------------------------------------

// One point: a product for each row or, in an area that is higher than wide, for each column of
// tiles. In a narrow map rows have few tiles, and the weights would pass by for each of them.
static void multiply_point(const wino *w, product p, int vectors)
{
    const int64_t rows = w->area->rows, tiles = w->area->columns;
    const int64_t down = w->args->channels_in, down_dst = tiles * POINTS * PRODUCT_ROW;
    const int64_t right = w->tile_step, right_dst = POINTS * PRODUCT_ROW;
    const bool wide = tiles >= rows;
    p.left_step = wide ? right : down;
    p.dst_step = wide ? right_dst : down_dst;
    for (int64_t line = 0; line < (wide ? rows : tiles); line++) {
        product_run(p, wide ? tiles : rows, vectors);
        p.left += wide ? down : right;
        p.dst += wide ? down_dst : right_dst;
    }
}

static void multiply_area(const wino *w, int64_t channel, int vectors)
{
    const int64_t k_count = 3 * w->args->channels_in;
    for (int64_t i = 0; i < POINTS; i++) {
        const float *block = w->args->packed + channel / ZN_WINOGRAD_BLOCK * w->block_weights;
        const product p = {.left = w->v + i * w->point_step,
                           .right = block + i * k_count * PRODUCT_BLOCK + channel % PRODUCT_BLOCK,
                           .second = product_second(w->block_weights),
                           .k_count = k_count,
                           .dst = w->m + i * PRODUCT_ROW};
        multiply_point(w, p, vectors);
    }
}

// --- y = A m ------------------------------------------------------------------------------------

ALWAYS_INLINE void untransform(const float *m, vec y[TILE])
{
    const int64_t step = PRODUCT_ROW;
    const vec m1 = vec_load_f32(m + step), m2 = vec_load_f32(m + 2 * step);
    const vec m3 = vec_load_f32(m + 3 * step), m4 = vec_load_f32(m + 4 * step);
    const vec even_a = vec_add(m1, m2), odd_a = vec_sub(m1, m2);
    const vec even_b = vec_add(m3, m4), odd_b = vec_sub(m3, m4);
    const vec a = vec_set1(POINT_A), b = vec_set1(POINT_B);
    const vec a2 = vec_set1(A_SQUARED), b2 = vec_set1(B_SQUARED);
    const vec a3 = vec_set1(A_SQUARED * POINT_A), b3 = vec_set1(B_SQUARED * POINT_B);
    y[0] = vec_add(vec_add(even_a, even_b), vec_load_f32(m));
    y[1] = vec_fmadd(a, odd_a, vec_mul(b, odd_b));
    y[2] = vec_fmadd(a2, even_a, vec_mul(b2, even_b));
    y[3] = vec_fmadd(a3, odd_a, vec_fmadd(b3, odd_b, vec_load_f32(m + 5 * step)));
}

ALWAYS_INLINE void finish_tile(const zn_winograd_args *a, const float *m, int64_t offset,
                               int64_t pixels, vec bias)
{
    vec y[TILE];
    untransform(m, y);
    UNROLL
    for (int i = 0; i < TILE; i++) {
        if (i >= pixels) break;
        const int64_t at = offset + i * a->out_step;
        vec value = vec_add(y[i], bias);
        if (a->residual) value = vec_add(value, vec_load_f32(a->residual + at));
        vec_store_f32(a->dst + at, a->relu ? vec_relu(value) : value);
    }
}

static void finish_area(const wino *w, int64_t channel, int vectors)
{
    const zn_winograd_args *a = w->args;
    const float *m = w->m;
    for (int64_t row = 0; row < w->area->rows; row++) {
        for (int64_t t = 0; t < w->area->columns; t++, m += POINTS * PRODUCT_ROW) {
            const int64_t x = (w->area->column + t) * TILE;
            const int64_t first = ((w->area->row + row) * a->width + x) * a->out_step + channel;
            for (int v = 0; v < vectors; v++) {
                const vec bias = a->bias ? vec_load_f32(a->bias + channel + v * LANES) : vec_zero();
                finish_tile(a, m + v * LANES, first + v * LANES, a->width - x, bias);
            }
        }
    }
}

void VERSION(zn_winograd)(const zn_winograd_args *args, const zn_area *area, float *scratch)
{
    const int64_t channels = args->channels_in;
    const int64_t tile_step = (area->rows + 2) * channels + ZN_WINOGRAD_APART;
    const wino w = {
        .args = args,
        .area = area,
        .v = scratch,
        .m = scratch + POINTS * area->columns * tile_step,
        .tile_step = tile_step,
        .point_step = area->columns * tile_step,
        .block_weights = POINTS * 3 * channels * ZN_WINOGRAD_BLOCK,
    };
    transform_area(&w);
    for (int64_t channel = 0; channel < args->channels_out; channel += 2 * LANES) {
        const int vectors = args->channels_out - channel > LANES ? 2 : 1;
        multiply_area(&w, channel, vectors);
        finish_area(&w, channel, vectors);
    }
}

#endif
