// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Simple passes over f32 arrays. They work on local blocks of 16 numbers: reading a block before
// writing one allows dst == src and still lets the compiler use vectors, which it would not do
// where the arrays may be the same.
#include "src/kernel/elementwise.h"

#include <string.h>

enum { BLOCK = 16 };

static float relu1(float value)
{
    return value < 0 ? 0.0f : value;
}

static void add_block(const float *a, const float *b, bool relu, float *dst)
{
    float left[BLOCK], right[BLOCK];
    memcpy(left, a, sizeof left);
    memcpy(right, b, sizeof right);
    for (int i = 0; i < BLOCK; i++) left[i] += right[i];
    if (relu) {
        for (int i = 0; i < BLOCK; i++) left[i] = relu1(left[i]);
    }
    memcpy(dst, left, sizeof left);
}

void zn_add_f32(const float *a, const float *b, bool relu, float *dst, size_t n)
{
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) add_block(a + i, b + i, relu, dst + i);
    for (; i < n; i++) {
        const float sum = a[i] + b[i];
        dst[i] = relu ? relu1(sum) : sum;
    }
}

void zn_relu_f32(const float *src, float *dst, size_t n)
{
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        float block[BLOCK];
        memcpy(block, src + i, sizeof block);
        for (int j = 0; j < BLOCK; j++) block[j] = relu1(block[j]);
        memcpy(dst + i, block, sizeof block);
    }
    for (; i < n; i++) dst[i] = relu1(src[i]);
}

static void norm_block(const float *src, const float *scale, const float *shift, bool relu,
                       float *dst)
{
    float value[BLOCK];
    memcpy(value, src, sizeof value);
    for (int i = 0; i < BLOCK; i++) value[i] = value[i] * scale[i] + shift[i];
    if (relu) {
        for (int i = 0; i < BLOCK; i++) value[i] = relu1(value[i]);
    }
    memcpy(dst, value, sizeof value);
}

void zn_group_norm_rows(const float *src, int64_t pixels, int64_t channels, const float *scale,
                        const float *shift, bool relu, float *dst)
{
    for (int64_t p = 0; p < pixels; p++, src += channels, dst += channels) {
        int64_t c = 0;
        for (; c + BLOCK <= channels; c += BLOCK) {
            norm_block(src + c, scale + c, shift + c, relu, dst + c);
        }
        for (; c < channels; c++) {
            const float value = src[c] * scale[c] + shift[c];
            dst[c] = relu ? relu1(value) : value;
        }
    }
}
