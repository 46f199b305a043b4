// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar convolution, which is the specification (conv_f32.h states it), the packing of
// weights, and the choice of a version.
#include "src/kernel/conv_f32.h"

#include "src/base/memory.h"
#include "src/kernel/block_sum.h"

#include <string.h>

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

static void conv_f32_scalar(const zn_conv_f32_args *args, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++) {
        for (int64_t x = 0; x < args->width_out; x++) {
            for (int64_t c = 0; c < args->channels_out; c += BLOCK) output_block(args, row, x, c);
        }
    }
}

static const struct {
    zn_isa isa;
    zn_conv_f32_fn *run;
} versions[] = {
    {ZN_ISA_BASELINE, conv_f32_scalar},
#ifdef __x86_64__
    {ZN_ISA_AVX2, zn_conv_f32_avx2},
    {ZN_ISA_AVX512, zn_conv_f32_avx512},
#endif
};

zn_conv_f32_fn *zn_conv_f32_pick(zn_isa isa)
{
    size_t best = sizeof versions / sizeof *versions - 1;
    while (versions[best].isa > isa) best--;
    return versions[best].run;
}
