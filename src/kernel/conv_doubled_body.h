// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector version of conv_doubled.c, written in the names of x86/vector_*.h, which the including
// file has included.
//
//     v [4][row][column][channel]          the pixels; their differences across, down, and both. One
//                                          row and one column more than the area: R reads those of the
//                                          next pixel
//     for each 2 vectors of output channels:
//         m [row][column][point][2 vectors]    a product of matrices per point and row
//         the four results of each pixel
#include "src/kernel/conv_doubled_rows.h"
#include "src/kernel/product_body.h"

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
    product p = {
        .left_step = d->pixel_step,
        .right = d->args->packed + channel * DOUBLED_POINTS * channels,
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
                       .kind_step = kind_step};
    transform_area(&d);
    for (int64_t channel = 0; channel < args->channels_out; channel += 2 * LANES) {
        const int vectors = args->channels_out - channel > LANES ? 2 : 1;
        multiply_area(&d, channel, vectors);
        finish_area(&d, channel, vectors);
    }
}
