// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector version of conv_doubled.c, written in the names of x86/vector_*.h, which the including
// file has included.
//
//     v [4][row][column][channel]          the pixels; their differences across, down, and both. One
//                                          row and one column more than the area: R reads those of the
//                                          next pixel
//     for each 128 output channels:
//         m [2 vectors][row][column][point]    a product of matrices per point and row
//         the four results of each pixel
//
// Sums are made in parts, in the order and for the reasons of winograd_body.h.
#include "src/kernel/conv_doubled_rows.h"
#include "src/kernel/product_body.h"

typedef struct doubled {
    const zn_doubled_args *args;
    const zn_area *area;
    float *v, *m;
    int64_t pixel_step, row_step, kind_step; // of v
    int64_t block_sums; // of m: floats from two vectors of channels to the next
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

static int vectors_at(const doubled *d, int64_t channel)
{
    return d->args->channels_out - channel > LANES ? 2 : 1;
}

static float *sums_at(const doubled *d, int64_t channel)
{
    return d->m + channel % PRODUCT_CHANNELS / PRODUCT_ROW * d->block_sums;
}

// Part [k, end) of the sums of one point, for the output channels from `first` on.
static void multiply_part(const doubled *d, int64_t point, int64_t k, int64_t end, int64_t first)
{
    const int64_t channels = d->args->channels_in, columns = d->area->columns;
    const int64_t down = point / AXIS_KINDS, across = point % AXIS_KINDS;
    const float *v = d->v + (2 * (down != AXIS_S) + (across != AXIS_S)) * d->kind_step +
                     (down == AXIS_R) * d->row_step + (across == AXIS_R) * d->pixel_step;
    product p = {
        .left_step = d->pixel_step,
        .second = product_second(DOUBLED_POINTS * channels * PRODUCT_BLOCK),
        .k_count = end - k,
        .more = k > 0,
        .dst_step = DOUBLED_POINTS * PRODUCT_ROW,
    };
    for (int64_t c = first; c < first + PRODUCT_CHANNELS && c < d->args->channels_out;
         c += 2 * LANES) {
        p.right = d->args->packed + c * DOUBLED_POINTS * channels +
                  (point * channels + k) * PRODUCT_BLOCK;
        for (int64_t row = 0; row < d->area->rows; row++) {
            p.left = v + row * d->row_step + k;
            p.dst = sums_at(d, c) + (row * columns * DOUBLED_POINTS + point) * PRODUCT_ROW;
            product_run(p, columns, vectors_at(d, c));
        }
    }
}

static void multiply_area(const doubled *d, int64_t first)
{
    const int64_t count = d->args->channels_in, parts = product_parts(count);
    for (int64_t point = 0; point < DOUBLED_POINTS; point++) {
        for (int64_t i = 0; i < parts; i++)
            multiply_part(d, point, product_part(count, i, parts),
                          product_part(count, i + 1, parts), first);
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

static void finish_area(const doubled *d, int64_t channel)
{
    const zn_doubled_args *a = d->args;
    const int vectors = vectors_at(d, channel);
    const float *m = sums_at(d, channel);
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

static void run_area(const zn_doubled_args *args, const zn_area *area, float *scratch)
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
                       .kind_step = kind_step,
                       .block_sums = area->rows * area->columns * DOUBLED_POINTS * PRODUCT_ROW};
    transform_area(&d);
    for (int64_t first = 0; first < args->channels_out; first += PRODUCT_CHANNELS) {
        const int64_t left = args->channels_out - first;
        multiply_area(&d, first);
        for (int64_t c = 0; c < left && c < PRODUCT_CHANNELS; c += 2 * LANES)
            finish_area(&d, first + c);
    }
}
