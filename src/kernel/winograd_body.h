// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector version of winograd.c, written in the names of x86/vector_*.h, which the including
// file has included.
//
// An area of a few rows and up to STRIP tiles is computed in three steps:
//
//     v [point][tile][row of src][channel]     all input channels, once
//     for each 2 vectors of output channels:
//         m [row][tile][point][2 vectors]      a product of matrices per point and row, or column of tiles
//         dst = A m + bias + residual, ReLU
//
// In v the channels of three rows below each other are one run of floats, so a sum is one loop. The
// weights of one point (24 KB for 64 channels and 32 results) and v of one point (18 KB) stay in the
// first-level cache while the rows of the area pass; of more channels, in the second. All weights pass by
// once an area.
#include "src/kernel/product_body.h"
#include "src/kernel/winograd.h"
#include "src/kernel/winograd_points.h"

enum { TILE = ZN_WINOGRAD_TILE, POINTS = ZN_WINOGRAD_POINTS, PIXELS = TILE + 2 };

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

// One point: a product for each row or, in an area that is higher than wide, for each column of tiles. In a narrow map rows have
// few tiles, and the weights would pass by for each of them.
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
                           .right = block + i * k_count * PRODUCT_BLOCK,
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

static void run_area(const zn_winograd_args *args, const zn_area *area, float *scratch)
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
