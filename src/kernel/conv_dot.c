// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar version, the packing of weights, and the choice of a version. See conv_dot.h.
#include "src/kernel/conv_dot.h"

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

void zn_conv_dot_pack(zn_type type, const void *dense, int64_t channels_out, int64_t channels_in,
                      int kernel_h, int kernel_w, void *packed)
{
    const size_t size = zn_type_size(type);
    const int64_t group = GROUP_BYTES / (int64_t)size, taps = (int64_t)kernel_h * kernel_w;
    const int64_t length = taps * channels_in;
    const uint8_t *from = dense;
    uint8_t *to = packed;
    for (int64_t block = 0; block < channels_out; block += BLOCK) {
        for (int64_t k = 0; k < length; k += group) {
            const int64_t tap = k / channels_in, in = k % channels_in;
            for (int64_t i = 0; i < BLOCK * group; i++, to += size) {
                const int64_t o = block + i / group;
                const int64_t at = o * length + (in + i % group) * taps + tap;
                if (o < channels_out)
                    memcpy(to, from + (size_t)at * size, size);
                else
                    memset(to, 0, size);
            }
        }
    }
}

static int64_t staged_pixels(const zn_conv_dot_args *args, int pixels, int tiles, int rows)
{
    const int64_t span = (int64_t)(pixels - 1) * args->stride + args->kernel_w;
    return tiles * span * (args->kernel_h + (rows - 1) * args->stride);
}

// For the version that needs most. Sums of a block of 2 x 2 tiles, or a number per channel; and what
// tiles read at the ends of rows, beside the zeros there: of tiles of 16 pixels at most three (one
// at the left, two at the right) for every pair of rows, of tiles of 6 at most eight.
size_t zn_conv_dot_scratch(const zn_conv_dot_args *args, int64_t rows)
{
    enum { SUMS = 4 * 16 * BLOCK };
    const int64_t pairs = ((rows < ZN_CONV_DOT_ROWS ? rows : ZN_CONV_DOT_ROWS) + 1) / 2;
    const int64_t large = pairs * staged_pixels(args, 16, 3, 2);
    const int64_t small = staged_pixels(args, 6, 8, 1);
    const int64_t pixel = args->channels_in * (int64_t)zn_type_size(args->src_type);
    const size_t channels = zn_round_up((size_t)args->channels_out, BLOCK);
    return (SUMS + channels) * sizeof(float) + (size_t)((large > small ? large : small) * pixel);
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

void zn_conv_dot_scalar(const zn_conv_dot_args *a, int64_t begin, int64_t end, void *scratch)
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

// --- choice -------------------------------------------------------------------------------------

zn_conv_dot_fn *zn_conv_dot_pick(const zn_cpu *cpu, zn_type src)
{
    if (src != ZN_BF16 && src != ZN_U8 && src != ZN_S8) return NULL;
#if defined(__x86_64__) && !defined(_WIN32) // os_windows_machine.c does not ask for tiles
    if (cpu->isa >= ZN_ISA_AMX) return zn_conv_dot_amx;
    if (cpu->isa >= ZN_ISA_AVX512 && cpu->avx512_vnni && src != ZN_BF16)
        return zn_conv_dot_avx512_vnni;
#endif
    (void)cpu;
    return NULL;
}
