// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// conv_dot of 8-bit maps by VNNI on vectors.
//
// Six pixels times 64 output channels are 24 sums in registers, which four bytes of each pixel, in
// all lanes, and four vectors of weights feed: ten loads for 24 products of 64 pairs. What follows
// the sum is done from the registers.
//
// The instruction takes pixels without a sign. Those with one are moved up by 128, and the sums
// begin with what that adds, taken away.
#if !defined(__AVX512VNNI__) || !defined(__AVX512BW__) || !defined(__AVX512VL__)
#error "this file needs AVX-512 and -mavx512vnni"
#endif

#include "src/kernel/unroll.h"
#include "src/kernel/x86/conv_dot_tiles.h"

enum {
    BLOCK = ZN_CONV_DOT_BLOCK,
    GROUP = 4, // bytes that a product adds up
    PIXELS = 6,
    WIDE = 4 // blocks of output channels that are worked on together
};

typedef struct job {
    const zn_conv_dot_args *a;
    placing placing;
    float floor;
    const int32_t *starts; // of the sums, per output channel
} job;

// Sixteen channels of a pixel, which is number `pixel` in dst.
static inline void finish(const job *j, __m512i sum, int64_t pixel, int64_t channel)
{
    const zn_conv_dot_args *a = j->a;
    const int64_t left = a->channels_out - channel;
    const size_t room = (size_t)(left < BLOCK ? left : BLOCK);
    const size_t at = (size_t)(pixel * a->channels_out + channel);
    const size_t size = type_size(a->dst_type), residual_size = type_size(a->residual_type);
    uint8_t *dst = (uint8_t *)a->dst + at * size;
    __m512 v = _mm512_cvtepi32_ps(sum);
    v = _mm512_fmadd_ps(v, _mm512_loadu_ps(a->scale + channel), _mm512_loadu_ps(a->bias + channel));
    if (a->residual) {
        uint8_t some[BLOCK * sizeof(float)] = {0};
        const uint8_t *residual = (const uint8_t *)a->residual + at * residual_size;
        if (room < BLOCK) residual = memcpy(some, residual, room * residual_size);
        v = _mm512_fmadd_ps(load_residual(a->residual_type, residual),
                            _mm512_set1_ps(a->residual_scale), v);
    }
    v = _mm512_max_ps(_mm512_set1_ps(j->floor), v);
    store_some(a->dst_type, v, dst, room);
}

// All products of one tile with `blocks` blocks of channels from `channel` on; blocks and `moved`
// (up by 128) are constants where this is inlined.
static inline __attribute__((always_inline)) void sum_tile(const job *j, const tile *t,
                                                           int64_t channel, int blocks, bool moved)
{
    const zn_conv_dot_args *a = j->a;
    const int64_t groups = a->kernel_w * j->placing.pixel_bytes / GROUP;
    const int64_t length = a->kernel_h * groups; // of a block's weights, in vectors
    const int64_t pixel = a->stride * j->placing.pixel_bytes;
    const __m512i *weights = (const __m512i *)a->packed + channel / BLOCK * length;
    const __m512i highest = _mm512_set1_epi32((int)0x80808080u);
    __m512i sums[PIXELS][WIDE];
    for (int n = 0; n < blocks; n++) {
        const __m512i start = _mm512_loadu_si512(j->starts + channel + n * BLOCK);
        for (int i = 0; i < PIXELS; i++) sums[i][n] = start;
    }
    for (int ky = 0; ky < a->kernel_h; ky++) {
        const uint8_t *src = t->src + ky * t->src_row - (ky >= t->wrap ? a->src_ring : 0);
        for (int64_t g = 0; g < groups; g++, src += GROUP, weights++) {
            __m512i w[WIDE];
            for (int n = 0; n < blocks; n++) w[n] = _mm512_loadu_si512(weights + n * length);
            UNROLL
            for (int i = 0; i < PIXELS; i++) {
                int32_t four;
                memcpy(&four, src + i * pixel, sizeof four);
                __m512i x = _mm512_set1_epi32(four);
                if (moved) x = _mm512_xor_si512(x, highest);
                for (int n = 0; n < blocks; n++)
                    sums[i][n] = _mm512_dpbusd_epi32(sums[i][n], x, w[n]);
            }
        }
    }
    for (int i = 0; i < PIXELS && i < t->count; i++) {
        for (int n = 0; n < blocks; n++)
            finish(j, sums[i][n], t->out + i * a->dst_step, channel + n * BLOCK);
    }
}

static void run_row(job *j, int64_t row, int64_t channel, bool wide)
{
    const bool moved = j->a->src_type == ZN_S8;
    for (int64_t x = j->a->x_begin; x < j->a->x_end; x += PIXELS) {
        tile t;
        place_tiles(&j->placing, &t, row, x, 1);
        if (wide && moved)
            sum_tile(j, &t, channel, WIDE, true);
        else if (wide)
            sum_tile(j, &t, channel, WIDE, false);
        else if (moved)
            sum_tile(j, &t, channel, 1, true);
        else
            sum_tile(j, &t, channel, 1, false);
    }
}

// Minus 128 times the sum of a channel's weights, where pixels are moved up by 128.
static void fill_starts(const zn_conv_dot_args *a, int32_t *starts)
{
    const int64_t length = (int64_t)a->kernel_h * a->kernel_w * a->channels_in;
    const int8_t *weights = a->packed;
    for (int64_t o = 0; o < a->channels_out || o % BLOCK != 0; o++) {
        int32_t sum = 0;
        for (int64_t k = 0; a->src_type == ZN_S8 && k < length; k++)
            sum += weights[(o / BLOCK * length + k / GROUP * GROUP) * BLOCK + o % BLOCK * GROUP +
                           k % GROUP];
        starts[o] = -128 * sum;
    }
}

void zn_conv_dot_avx512_vnni(const zn_conv_dot_args *a, int64_t begin, int64_t end, void *scratch)
{
    job j = {.a = a, .floor = lowest_result(a), .starts = scratch};
    const size_t padded = (size_t)(a->channels_out + BLOCK - 1) / BLOCK * BLOCK;
    fill_starts(a, scratch);
    j.placing = placing_make(a, PIXELS, (uint8_t *)scratch + padded * sizeof(int32_t));
    for (int64_t row = begin; row < end; row++) {
        j.placing.staged = false;
        for (int64_t channel = 0; channel < a->channels_out;) {
            const bool wide = a->channels_out - channel > (WIDE - 1) * BLOCK;
            j.placing.next_stage = j.placing.stage;
            run_row(&j, row, channel, wide);
            j.placing.staged = true;
            channel += wide ? WIDE * BLOCK : BLOCK;
        }
    }
}
