// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_weight_gradient in vectors, written in the names of x86/vector_*.h, which the including file
// has included (or vector_baseline.h).
//
// What an output pixel reads of a row of src, (kernel column, input channel), is one run of numbers.
// So the gradient is a sum over pixels of outer products of a run with the pixel's dy:
//
//     sums[ky][k][o] += src[r * stride + ky][x * stride * channels_in + k] * dy[r][x][o]
//
// A block of CONV_PIXELS k x 2 vectors of o stays in registers while the pixels of a row pass. Rows
// are copied to scratch first, as f32 with zeros at their ends: that is one load for each of some
// hundred products, and leaves one loop for all types and borders. A row of src is copied once, into
// place number (row modulo kernel_h). Threads share the blocks of k; each copies rows for itself.
#include "src/kernel/conv_weight_gradient_layout.h"
#include "src/kernel/unroll.h"

#include <string.h>

typedef struct weight_gradient_job {
    const zn_conv_weight_gradient_args *a;
    vector_layout layout;
    unit_range own; // of blocks of k: a kernel row's, then the next one's
    float *sums;    // [kernel_h][runs][outs]
    float *src;     // [kernel_h][src_row]
    float *dy;      // [width_out][outs]
} weight_gradient_job;

static void copy_as_f32(zn_type type, const void *src, int64_t from, int64_t count, float *dst)
{
    int64_t i = 0;
    if (type == ZN_F32) {
        memcpy(dst, (const float *)src + from, (size_t)count * sizeof *dst);
        return;
    }
    const uint16_t *bits = (const uint16_t *)src + from;
    for (; i + LANES <= count; i += LANES) vec_store_f32(dst + i, vec_load_bf16(bits + i));
    for (; i < count; i++) dst[i] = zn_bf16_to_f32(bits[i]);
}

static void copy_src(const weight_gradient_job *j, int64_t row)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t left = a->pad_left < j->layout.columns ? a->pad_left : j->layout.columns;
    const int64_t room = j->layout.columns - left;
    const int64_t inside = (a->width_in < room ? a->width_in : room) * a->channels_in;
    const int64_t begin = left * a->channels_in;
    float *dst = j->src + row % a->kernel_h * j->layout.src_row;
    memset(dst, 0, (size_t)begin * sizeof *dst);
    copy_as_f32(a->type, a->src, row * a->width_in * a->channels_in, inside, dst + begin);
    memset(dst + begin + inside, 0, (size_t)(j->layout.src_row - begin - inside) * sizeof *dst);
}

static void copy_dy(const weight_gradient_job *j, int64_t row)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t outs = j->layout.outs, channels = a->channels_out;
    for (int64_t x = 0; x < a->width_out; x++) {
        float *dst = j->dy + x * outs;
        copy_as_f32(a->type, a->dy, (row * a->width_out + x) * channels, channels, dst);
        memset(dst + channels, 0, (size_t)(outs - channels) * sizeof *dst);
    }
}

// Adds a row to a block of sums; `vectors` is a constant where this is inlined.
static inline __attribute__((always_inline)) void
add_row(const weight_gradient_job *j, const float *src, const float *dy, float *sums, int vectors)
{
    const int64_t step = j->a->stride * j->a->channels_in, outs = j->layout.outs;
    vec acc[CONV_PIXELS][2];
    UNROLL
    for (int k = 0; k < CONV_PIXELS; k++) {
        acc[k][0] = vec_load_f32(sums + k * outs);
        if (vectors > 1) acc[k][1] = vec_load_f32(sums + k * outs + LANES);
    }
    for (int64_t x = 0; x < j->a->width_out; x++, src += step, dy += outs) {
        const vec d0 = vec_load_f32(dy), d1 = vectors > 1 ? vec_load_f32(dy + LANES) : d0;
        UNROLL
        for (int k = 0; k < CONV_PIXELS; k++) {
            const vec value = vec_set1(src[k]);
            acc[k][0] = vec_fmadd(value, d0, acc[k][0]);
            if (vectors > 1) acc[k][1] = vec_fmadd(value, d1, acc[k][1]);
        }
    }
    UNROLL
    for (int k = 0; k < CONV_PIXELS; k++) {
        vec_store_f32(sums + k * outs, acc[k][0]);
        if (vectors > 1) vec_store_f32(sums + k * outs + LANES, acc[k][1]);
    }
}

static int64_t blocks_of_run(const vector_layout *l)
{
    return (l->run + CONV_PIXELS - 1) / CONV_PIXELS;
}

static void add_products(const weight_gradient_job *j, int64_t row)
{
    const vector_layout *l = &j->layout;
    const int64_t blocks = blocks_of_run(l), first = row * j->a->stride;
    for (int64_t out = 0; out < j->a->channels_out; out += 2 * LANES) {
        for (int64_t unit = j->own.begin; unit < j->own.end; unit++) {
            const int64_t ky = unit / blocks, k = unit % blocks * CONV_PIXELS;
            const float *src = j->src + (first + ky) % j->a->kernel_h * l->src_row + k;
            float *sums = j->sums + (ky * l->runs + k) * l->outs + out;
            if (out + LANES < l->outs)
                add_row(j, src, j->dy + out, sums, 2);
            else
                add_row(j, src, j->dy + out, sums, 1);
        }
    }
}

static void add_bias(const weight_gradient_job *j)
{
    const int64_t outs = j->layout.outs;
    for (int64_t out = 0; out < j->a->channels_out; out += LANES) {
        vec sum = vec_zero();
        float lanes[LANES];
        for (int64_t x = 0; x < j->a->width_out; x++)
            sum = vec_add(sum, vec_load_f32(j->dy + x * outs + out));
        vec_store_f32(lanes, sum);
        for (int64_t i = 0; i < LANES && out + i < j->a->channels_out; i++)
            j->a->db[out + i] += lanes[i];
    }
}

// The sums into the order of dw: one weight of all outputs after the other, so that the lines
// written to are still in the cache for the next.
static void write_weights(const weight_gradient_job *j)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t taps = (int64_t)a->kernel_h * a->kernel_w, weights = taps * a->channels_in;
    const int64_t blocks = blocks_of_run(&j->layout);
    float *dw = a->dw;
    for (int64_t in = 0; in < a->channels_in; in++) {
        for (int64_t ky = 0; ky < a->kernel_h; ky++) {
            for (int64_t kx = 0; kx < a->kernel_w; kx++, dw++) {
                const int64_t k = kx * a->channels_in + in, unit = ky * blocks + k / CONV_PIXELS;
                const float *sums = j->sums + (ky * j->layout.runs + k) * j->layout.outs;
                if (unit < j->own.begin || unit >= j->own.end) continue;
                for (int64_t out = 0; out < a->channels_out; out++) {
                    float *to = dw + out * weights;
                    *to = a->add ? *to + sums[out] : sums[out];
                }
            }
        }
    }
}

static void weight_gradient(const zn_conv_weight_gradient_args *a, void *scratch)
{
    weight_gradient_job j = {.a = a, .layout = vector_layout_make(a), .sums = scratch};
    int64_t copied = 0; // rows of src
    j.own = units_of_part(a, a->kernel_h * blocks_of_run(&j.layout));
    if (j.own.begin == j.own.end && !has_bias(a)) return;
    j.src = j.sums + j.layout.src_at;
    j.dy = j.sums + j.layout.dy_at;
    memset(j.sums, 0, (size_t)j.layout.src_at * sizeof *j.sums);
    if (has_bias(a) && !a->add) memset(a->db, 0, (size_t)a->channels_out * sizeof *a->db);
    for (int64_t row = 0; row < a->rows; row++) {
        const int64_t first = row * a->stride;
        if (copied < first) copied = first;
        for (; copied < first + a->kernel_h; copied++) copy_src(&j, copied);
        copy_dy(&j, row);
        add_products(&j, row);
        if (has_bias(a)) add_bias(&j);
    }
    write_weights(&j);
}
