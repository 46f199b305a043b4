// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar convolution, which is the specification (conv_f32.h states it), the packing of
// weights, and the convolution in vectors.
//
// A block of up to CONV_PIXELS pixels x 2 vectors of output channels stays in registers while its
// products pass:
//
//     for each kernel row, for each k in (column, channel):      k runs through contiguous floats
//         w0, w1 = weights[k] of LANES channels each
//         acc[p] += src[p * stride * channels_in + k] * (w0, w1)   for each pixel p
//
// The k loop is one run per kernel row only where all taps lie inside, so pixels at the borders are
// blocks of one pixel with a shorter run. The inner pixels are cut into blocks of nearly equal
// size: with one small block at the end of each row, its few accumulators would wait for the
// latency of the multiply-add. Weights come from L2, once per block of pixels; a few rows pass
// before the next channels, so that they come from further away less often.
#include "src/kernel/conv/conv_f32.h"

#include "src/base/memory.h"
#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

#include <string.h>

#ifdef ZN_BASELINE // the specification

#include "src/kernel/conv/conv_product.h"

enum { BLOCK = ZN_CONV_F32_BLOCK };

bool zn_conv_f32_packed_bytes(int64_t channels_out, int64_t channels_in, int kernel_h, int kernel_w,
                              size_t *out)
{
    size_t bytes;
    if ((uint64_t)channels_out > SIZE_MAX / 2) return false;
    if (!zn_mul_size(zn_round_up((size_t)channels_out, BLOCK), sizeof(float), &bytes)) return false;
    if (!zn_mul_size(bytes, (size_t)channels_in, &bytes)) return false;
    if (!zn_mul_size(bytes, (size_t)kernel_h, &bytes)) return false;
    return zn_mul_size(bytes, (size_t)kernel_w, out);
}

void zn_conv_f32_pack(const float *dense, int64_t channels_out, int64_t channels_in, int kernel_h,
                      int kernel_w, float *packed)
{
    const int64_t taps = (int64_t)kernel_h * kernel_w, k_count = taps * channels_in;
    for (int64_t block = 0; block < channels_out; block += BLOCK) {
        for (int64_t k = 0; k < k_count; k++, packed += BLOCK) {
            const int64_t tap = k / channels_in, in = k % channels_in;
            for (int64_t j = 0; j < BLOCK; j++) {
                const int64_t from = (block + j) * k_count + in * taps + tap;
                packed[j] = block + j < channels_out ? dense[from] : 0.0f;
            }
        }
    }
}

// Output channels [channel, channel + BLOCK) of the pixel at (row, x). The taps of one kernel row
// that lie inside the picture are one run of floats, in src and in the weights alike.
static void output_block(const zn_conv_f32_args *a, int64_t row, int64_t x, int64_t channel)
{
    const int64_t left = x * a->stride - a->pad_left; // the column of tap 0
    const int64_t first = left < 0 ? -left : 0;
    const int64_t inside = a->width_in - left;
    const int64_t last = inside < a->kernel_w ? inside : a->kernel_w;
    const float *packed = a->packed + channel * a->kernel_h * a->kernel_w * a->channels_in;
    const int64_t room = a->channels_out - channel;
    const size_t used = (size_t)(room < BLOCK ? room : BLOCK);
    const int64_t offset = (row * a->width_out + x) * a->channels_out + channel;
    float acc[BLOCK] = {0};
    if (a->bias) memcpy(acc, a->bias + channel, used * sizeof *acc);
    for (int64_t kh = 0; kh < a->kernel_h && first < last; kh++) {
        const float *src = a->src +
                           ((row * a->stride + kh) * a->width_in + left + first) * a->channels_in;
        const float *weights = packed + (kh * a->kernel_w + first) * a->channels_in * BLOCK;
        block_sum(src, (last - first) * a->channels_in, weights, acc);
    }
    for (size_t j = 0; j < used; j++) {
        float value = a->residual ? acc[j] + a->residual[offset + (int64_t)j] : acc[j];
        a->dst[offset + (int64_t)j] = a->relu && value < 0 ? 0.0f : value;
    }
}

void zn_conv_f32_reference(const zn_conv_f32_args *args, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++) {
        for (int64_t x = 0; x < args->width_out; x++) {
            for (int64_t c = 0; c < args->channels_out; c += BLOCK) output_block(args, row, x, c);
        }
    }
}

#else // in vectors

enum { CONV_STRIP = 4 }; // rows

typedef struct conv_block {
    const zn_conv_f32_args *args;
    int64_t row, x, channel;
    int64_t second; // from the weights of one vector of channels to those of the next
} conv_block;

#define ALWAYS_INLINE static inline __attribute__((always_inline))

// `pixels` and `vectors` are constants at each call, so that acc lives in registers.
ALWAYS_INLINE void accumulate(const float *src, int64_t step, int64_t k_count, const float *weights,
                              int64_t second, const int pixels, const int vectors,
                              vec acc[CONV_PIXELS][2])
{
    for (int64_t k = 0; k < k_count; k++, weights += ZN_CONV_F32_BLOCK) {
        const vec w0 = vec_load_f32(weights);
        const vec w1 = vectors > 1 ? vec_load_f32(weights + second) : w0;
        UNROLL
        for (int p = 0; p < pixels; p++) {
            const vec value = vec_set1(src[p * step + k]);
            acc[p][0] = vec_fmadd(value, w0, acc[p][0]);
            if (vectors > 1) acc[p][1] = vec_fmadd(value, w1, acc[p][1]);
        }
    }
}

ALWAYS_INLINE void finish(const conv_block *at, const int pixels, const int vectors,
                          vec acc[CONV_PIXELS][2])
{
    const zn_conv_f32_args *a = at->args;
    const int64_t first = (at->row * a->width_out + at->x) * a->channels_out + at->channel;
    const int64_t room = a->channels_out - at->channel;
    UNROLL
    for (int p = 0; p < pixels; p++) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const int64_t offset = first + p * a->channels_out + v * LANES;
            vec value = acc[p][v];
            if (a->residual) {
                value = vec_add(value, vec_load_part(a->residual + offset, room - v * LANES));
            }
            if (a->relu) value = vec_relu(value);
            vec_store_part(a->dst + offset, room - v * LANES, value);
        }
    }
}

ALWAYS_INLINE void run_block(const conv_block *at, const int pixels, const int vectors)
{
    const zn_conv_f32_args *a = at->args;
    const int64_t left = at->x * a->stride - a->pad_left; // the column of tap 0 of pixel 0
    const int64_t first = left < 0 ? -left : 0;
    const int64_t inside = a->width_in - left - (pixels - 1) * a->stride; // for the last pixel
    const int64_t last = inside < a->kernel_w ? inside : a->kernel_w;
    const int64_t room = a->channels_out - at->channel;
    const int64_t within = at->channel % ZN_CONV_F32_BLOCK; // of a block of channels
    const float *packed = a->packed + within +
                          (at->channel - within) * a->kernel_h * a->kernel_w * a->channels_in;
    vec acc[CONV_PIXELS][2];
    const vec b0 = a->bias ? vec_load_part(a->bias + at->channel, room) : vec_zero();
    const vec b1 = a->bias && vectors > 1
                       ? vec_load_part(a->bias + at->channel + LANES, room - LANES)
                       : vec_zero();
    UNROLL
    for (int p = 0; p < pixels; p++) {
        acc[p][0] = b0;
        acc[p][1] = b1;
    }
    for (int64_t kh = 0; kh < a->kernel_h && first < last; kh++) {
        const float *src = a->src + ((at->row * a->stride + kh) * a->width_in + left + first) *
                                        a->channels_in;
        const float *weights = packed +
                               (kh * a->kernel_w + first) * a->channels_in * ZN_CONV_F32_BLOCK;
        accumulate(src, a->stride * a->channels_in, (last - first) * a->channels_in, weights,
                   at->second, pixels, vectors, acc);
    }
    finish(at, pixels, vectors, acc);
}

#define BLOCK_CASE(pixels)                                                                         \
    case pixels:                                                                                   \
        run_block(at, pixels, vectors);                                                            \
        break;

ALWAYS_INLINE void run_pixels(const conv_block *at, int64_t pixels, const int vectors)
{
    switch (pixels) {
        BLOCK_CASE(1)
        BLOCK_CASE(2)
        BLOCK_CASE(3)
        BLOCK_CASE(4)
        BLOCK_CASE(5)
        BLOCK_CASE(6)
#if CONV_PIXELS > 6
        BLOCK_CASE(7)
        BLOCK_CASE(8)
        BLOCK_CASE(9)
        BLOCK_CASE(10)
        BLOCK_CASE(11)
        BLOCK_CASE(12)
#endif
    default:
        break;
    }
}

static void run_one_vector(const conv_block *at, int64_t pixels)
{
    run_pixels(at, pixels, 1);
}

static void run_two_vectors(const conv_block *at, int64_t pixels)
{
    run_pixels(at, pixels, 2);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

// The pixels [*begin, *end) whose taps all lie inside the row.
static void inner_pixels(const zn_conv_f32_args *a, int64_t *begin, int64_t *end)
{
    const int64_t last_left = a->width_in + a->pad_left - a->kernel_w; // of a window inside
    *begin = clamp((a->pad_left + a->stride - 1) / a->stride, 0, a->width_out);
    *end = last_left < 0 ? *begin : clamp(last_left / a->stride + 1, *begin, a->width_out);
}

// One row of up to two vectors of output channels.
static void run_row(conv_block at)
{
    const zn_conv_f32_args *a = at.args;
    const int64_t room = a->channels_out - at.channel;
    void (*run)(const conv_block *, int64_t) = room > LANES ? run_two_vectors : run_one_vector;
    int64_t begin, end;
    inner_pixels(a, &begin, &end);
    for (at.x = 0; at.x < begin; at.x++) run(&at, 1);
    for (int64_t pixels; at.x < end; at.x += pixels) {
        const int64_t left = end - at.x, blocks = (left + CONV_PIXELS - 1) / CONV_PIXELS;
        pixels = (left + blocks - 1) / blocks;
        run(&at, pixels);
    }
    for (; at.x < a->width_out; at.x++) run(&at, 1);
}

void VERSION(zn_conv_f32)(const zn_conv_f32_args *a, int64_t begin, int64_t end)
{
    const int64_t block = (int64_t)a->kernel_h * a->kernel_w * a->channels_in * ZN_CONV_F32_BLOCK;
    conv_block at = {.args = a, .second = LANES < ZN_CONV_F32_BLOCK ? LANES : block};
    for (int64_t strip = begin; strip < end; strip += CONV_STRIP) {
        const int64_t strip_end = strip + CONV_STRIP < end ? strip + CONV_STRIP : end;
        for (at.channel = 0; at.channel < a->channels_out; at.channel += 2 * LANES) {
            for (at.row = strip; at.row < strip_end; at.row++) run_row(at);
        }
    }
}

#endif
