// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification, the packing of weights, and what a call needs of scratch. See conv_dot.h.
#include "src/kernel/conv/conv_dot.h"

#include "src/base/memory.h"

#include <string.h>

enum { BLOCK = ZN_CONV_DOT_BLOCK, GROUP_BYTES = 4 };

bool zn_conv_dot_packed_bytes(zn_type type, int64_t channels_out, int64_t channels_in, int kernel_h,
                              int kernel_w, size_t *out)
{
    size_t bytes;
    if ((uint64_t)channels_out > SIZE_MAX / 2) return false;
    if (!zn_mul_size((size_t)channels_in, zn_type_size(type), &bytes)) return false;
    if (bytes % ZN_CONV_DOT_BYTES != 0) return false;
    if (!zn_mul_size(bytes, zn_round_up((size_t)channels_out, BLOCK), &bytes)) return false;
    if (!zn_mul_size(bytes, (size_t)kernel_h, &bytes)) return false;
    return zn_mul_size(bytes, (size_t)kernel_w, out);
}

// One output channel: its groups, each of them BLOCK groups after the one before. The source is
// read in order: weights in training are packed after every step.
static inline __attribute__((always_inline)) void
pack_channel(const uint8_t *from, size_t size, int64_t channels_in, int64_t taps, uint8_t *to)
{
    const int64_t group = GROUP_BYTES / (int64_t)size, groups = channels_in / group;
    for (int64_t g = 0; g < groups; g++, from += (size_t)(group * taps) * size) {
        for (int64_t tap = 0; tap < taps; tap++) {
            uint8_t *dst = to + (size_t)((tap * groups + g) * BLOCK) * GROUP_BYTES;
            for (int64_t i = 0; i < group; i++)
                memcpy(dst + (size_t)i * size, from + (size_t)(i * taps + tap) * size, size);
        }
    }
}

void zn_conv_dot_pack(zn_type type, const void *dense, int64_t channels_out, int64_t channels_in,
                      int kernel_h, int kernel_w, void *packed)
{
    const size_t size = zn_type_size(type);
    const int64_t taps = (int64_t)kernel_h * kernel_w;
    const size_t channel = (size_t)(taps * channels_in) * size;
    const int64_t padded = (int64_t)zn_round_up((size_t)channels_out, BLOCK);
    if (padded > channels_out) // the last block has channels that nobody fills
        memset((uint8_t *)packed + (size_t)(padded - BLOCK) * channel, 0, BLOCK * channel);
    for (int64_t o = 0; o < channels_out; o++) {
        const uint8_t *from = (const uint8_t *)dense + (size_t)o * channel;
        uint8_t *to = (uint8_t *)packed + (size_t)(o / BLOCK * BLOCK) * channel +
                      (size_t)(o % BLOCK) * GROUP_BYTES;
        if (size == sizeof(uint16_t))
            pack_channel(from, sizeof(uint16_t), channels_in, taps, to);
        else
            pack_channel(from, size, channels_in, taps, to);
    }
}

static int64_t staged_pixels(const zn_conv_dot_args *args, int pixels, int tiles, int rows)
{
    const int64_t span = (int64_t)(pixels - 1) * args->stride + args->kernel_w;
    return tiles * span * (args->kernel_h + (rows - 1) * args->stride);
}

int64_t zn_conv_dot_sum_parts(const zn_conv_dot_args *args)
{
    enum { STEPS = 18 }; // of 64 bytes of 32 channels: what 3x3 with 64 channels of bf16 has
    const int64_t pixel = args->channels_in * (int64_t)zn_type_size(args->src_type);
    const int64_t steps = args->kernel_h * args->kernel_w * pixel / ZN_CONV_DOT_BYTES;
    return (steps + STEPS - 1) / STEPS;
}

int64_t zn_conv_dot_blocks(const zn_conv_dot_args *args)
{
    enum { PIXELS = 32 };
    return zn_conv_dot_sum_parts(args) > 1 ? ZN_CONV_DOT_ROWS * ZN_CONV_DOT_PART_COLUMNS / PIXELS
                                           : 1;
}

// For the version that needs most. Sums of blocks of 2 x 2 tiles, or a number per channel; and what
// tiles read at the ends of rows, beside the zeros there: of tiles of 16 pixels at most three (one
// at the left, two at the right) for every pair of rows, of tiles of 6 at most eight.
size_t zn_conv_dot_scratch(const zn_conv_dot_args *args, int64_t rows)
{
    const size_t sums = (size_t)zn_conv_dot_blocks(args) * 4 * 16 * BLOCK;
    const int64_t pairs = ((rows < ZN_CONV_DOT_ROWS ? rows : ZN_CONV_DOT_ROWS) + 1) / 2;
    const int64_t large = pairs * staged_pixels(args, 16, 3, 2);
    const int64_t small = staged_pixels(args, 6, 8, 1);
    const int64_t pixel = args->channels_in * (int64_t)zn_type_size(args->src_type);
    const size_t channels = zn_round_up((size_t)args->channels_out, BLOCK);
    return (sums + channels) * sizeof(float) + (size_t)((large > small ? large : small) * pixel);
}

// --- the specification --------------------------------------------------------------------------

static float weight_at(const zn_conv_dot_args *a, int64_t out, int64_t k)
{
    const zn_type type = a->src_type == ZN_BF16 ? ZN_BF16 : ZN_S8;
    const int64_t group = GROUP_BYTES / (int64_t)zn_type_size(type);
    const int64_t length = (int64_t)a->kernel_h * a->kernel_w * a->channels_in;
    const int64_t at = (out / BLOCK * length + k / group * group) * BLOCK + out % BLOCK * group;
    return zn_type_load(type, a->packed, (size_t)(at + k % group));
}

static float sum_at(const zn_conv_dot_args *a, int64_t row, int64_t x, int64_t out)
{
    double sum = 0; // exact for integers, better than any version for bf16
    for (int64_t tap = 0; tap < (int64_t)a->kernel_h * a->kernel_w; tap++) {
        const int64_t column = x * a->stride - a->pad_left + tap % a->kernel_w;
        if (column < 0 || column >= a->width_in) continue;
        const int64_t from = row * a->stride + tap / a->kernel_w;
        const size_t at = (size_t)((from * a->width_in + column) * a->channels_in);
        const uint8_t *src = (const uint8_t *)a->src - (from >= a->src_wrap ? a->src_ring : 0);
        for (int64_t in = 0; in < a->channels_in; in++) {
            sum += (double)zn_type_load(a->src_type, src, at + (size_t)in) *
                   (double)weight_at(a, out, tap * a->channels_in + in);
        }
    }
    return (float)sum;
}

void zn_conv_dot_reference(const zn_conv_dot_args *a, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    for (int64_t row = begin; row < end; row++) {
        for (int64_t i = a->x_begin * a->channels_out; i < a->x_end * a->channels_out; i++) {
            const int64_t out = i % a->channels_out;
            const int64_t x = i / a->channels_out, pixel = row * a->dst_row + x * a->dst_step;
            const size_t at = (size_t)(pixel * a->channels_out + out);
            float t = sum_at(a, row, x, out) * a->scale[out] + a->bias[out];
            if (a->residual)
                t += a->residual_scale * zn_type_load(a->residual_type, a->residual, at);
            if (a->relu && t < 0) t = 0;
            if (a->mask && !(zn_type_load(a->dst_type, a->mask, at) > 0)) t = 0;
            zn_type_store(a->dst_type, a->dst, at, t);
        }
    }
}
