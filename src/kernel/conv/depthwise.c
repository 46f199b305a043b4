// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A vector of channels keeps its nine weights in registers and goes along the row; channels that
// are no whole vector are done one by one. See depthwise.h.
#include "src/kernel/conv/depthwise.h"

#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

#define INLINE static inline __attribute__((always_inline))

INLINE vec dw_load(zn_type type, const void *map, int64_t at)
{
    return type == ZN_F32 ? vec_load_f32((const float *)map + at)
                          : vec_load_bf16((const uint16_t *)map + at);
}

INLINE float dw_load_one(zn_type type, const void *map, int64_t at)
{
    return type == ZN_F32 ? ((const float *)map)[at] : zn_bf16_to_f32(((const uint16_t *)map)[at]);
}

INLINE void dw_store_one(zn_type type, void *map, int64_t at, float value)
{
    if (type == ZN_F32)
        ((float *)map)[at] = value;
    else
        ((uint16_t *)map)[at] = zn_f32_to_bf16(value);
}

// One pixel's vector; first and last: the columns under the window that are in the row.
INLINE void dw_pixel(const zn_depthwise_args *a, zn_type from, zn_type to, const vec *weights,
                     int64_t at, int first, int last)
{
    vec sum = vec_zero();
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = first; j <= last; j++)
            sum = vec_fmadd(dw_load(from, a->src[i], at + (j - 1) * a->channels),
                            weights[3 * i + j], sum);
    }
    if (a->added) sum = vec_add(sum, dw_load(from, a->added, at));
    if (a->relu) sum = vec_relu(sum);
    if (to == ZN_F32)
        vec_store_f32((float *)a->dst + at, sum);
    else
        vec_store_bf16((uint16_t *)a->dst + at, sum);
}

INLINE void dw_vector(const zn_depthwise_args *a, zn_type from, zn_type to, int64_t channel)
{
    vec weights[ZN_DEPTHWISE_TAPS];
    UNROLL
    for (int i = 0; i < ZN_DEPTHWISE_TAPS; i++)
        weights[i] = vec_load_f32(a->weights + i * a->channels + channel);
    int64_t at = channel, end = channel + a->width * a->channels;
    if (a->width == 1 && !a->inside[0] && !a->inside[1]) {
        dw_pixel(a, from, to, weights, at, 1, 1);
        return;
    }
    if (!a->inside[1]) end -= a->channels;
    if (!a->inside[0]) {
        dw_pixel(a, from, to, weights, at, 1, 2);
        at += a->channels;
    }
    for (; at < end; at += a->channels) dw_pixel(a, from, to, weights, at, 0, 2);
    if (!a->inside[1]) dw_pixel(a, from, to, weights, end, 0, 1);
}

// A channel that is left over.
INLINE void dw_rest(const zn_depthwise_args *a, zn_type from, zn_type to, int64_t channel)
{
    for (int64_t x = 0; x < a->width; x++) {
        const int64_t at = x * a->channels + channel;
        const int first = x > 0 || a->inside[0] ? 0 : 1;
        const int last = x + 1 < a->width || a->inside[1] ? 2 : 1;
        float sum = 0;
        for (int i = 0; i < 3; i++) {
            for (int j = first; j <= last; j++)
                sum += dw_load_one(from, a->src[i], at + (j - 1) * a->channels) *
                       a->weights[(3 * i + j) * a->channels + channel];
        }
        if (a->added) sum += dw_load_one(from, a->added, at);
        if (a->relu && sum < 0) sum = 0;
        dw_store_one(to, a->dst, at, sum);
    }
}

INLINE void dw_row(const zn_depthwise_args *a, zn_type from, zn_type to)
{
    int64_t channel = 0;
    for (; channel + LANES <= a->channels; channel += LANES) dw_vector(a, from, to, channel);
    for (; channel < a->channels; channel++) dw_rest(a, from, to, channel);
}

void VERSION(zn_depthwise)(const zn_depthwise_args *a)
{
    if (a->src_type == ZN_F32 && a->dst_type == ZN_F32)
        dw_row(a, ZN_F32, ZN_F32);
    else if (a->src_type == ZN_F32)
        dw_row(a, ZN_F32, ZN_BF16);
    else if (a->dst_type == ZN_F32)
        dw_row(a, ZN_BF16, ZN_F32);
    else
        dw_row(a, ZN_BF16, ZN_BF16);
}

// --- the gradient of the weights ----------------------------------------------------------------

INLINE void dw_sum_pixel(const zn_depthwise_sums_args *a, zn_type x, zn_type y, int64_t at,
                         int first, int last, vec *sums)
{
    const int64_t line = a->width * a->channels;
    const vec dy = dw_load(y, a->dy, at);
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = first; j <= last; j++)
            sums[3 * i + j] = vec_fmadd(dw_load(x, a->src, i * line + at + (j - 1) * a->channels),
                                        dy, sums[3 * i + j]);
    }
}

INLINE void dw_sum_vector(const zn_depthwise_sums_args *a, zn_type x, zn_type y, int64_t channel)
{
    vec sums[ZN_DEPTHWISE_TAPS];
    UNROLL
    for (int i = 0; i < ZN_DEPTHWISE_TAPS; i++) sums[i] = vec_zero();
    const int64_t end = channel + (a->width - 1) * a->channels;
    if (a->width == 1) {
        dw_sum_pixel(a, x, y, channel, 1, 1, sums);
    } else {
        dw_sum_pixel(a, x, y, channel, 1, 2, sums);
        for (int64_t at = channel + a->channels; at < end; at += a->channels)
            dw_sum_pixel(a, x, y, at, 0, 2, sums);
        dw_sum_pixel(a, x, y, end, 0, 1, sums);
    }
    UNROLL
    for (int i = 0; i < ZN_DEPTHWISE_TAPS; i++)
        vec_store_f32(a->sums + i * a->channels + channel, sums[i]);
}

INLINE void dw_sum_rest(const zn_depthwise_sums_args *a, int64_t channel)
{
    const int64_t line = a->width * a->channels;
    for (int tap = 0; tap < ZN_DEPTHWISE_TAPS; tap++) {
        float sum = 0;
        for (int64_t x = 0; x < a->width; x++) {
            const int64_t from = x + tap % 3 - 1, at = x * a->channels + channel;
            if (from < 0 || from >= a->width) continue;
            sum += dw_load_one(a->src_type, a->src, tap / 3 * line + from * a->channels + channel) *
                   dw_load_one(a->dy_type, a->dy, at);
        }
        a->sums[tap * a->channels + channel] = sum;
    }
}

INLINE void dw_sum_row(const zn_depthwise_sums_args *a, zn_type x, zn_type y)
{
    int64_t channel = 0;
    for (; channel + LANES <= a->channels; channel += LANES) dw_sum_vector(a, x, y, channel);
    for (; channel < a->channels; channel++) dw_sum_rest(a, channel);
}

void VERSION(zn_depthwise_sums)(const zn_depthwise_sums_args *a)
{
    if (a->src_type == ZN_F32 && a->dy_type == ZN_F32)
        dw_sum_row(a, ZN_F32, ZN_F32);
    else if (a->src_type == ZN_F32)
        dw_sum_row(a, ZN_F32, ZN_BF16);
    else if (a->dy_type == ZN_F32)
        dw_sum_row(a, ZN_BF16, ZN_F32);
    else
        dw_sum_row(a, ZN_BF16, ZN_BF16);
}
