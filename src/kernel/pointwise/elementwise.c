// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Simple passes over f32 arrays, four numbers at a time and the rest singly.
#include "src/kernel/pointwise/elementwise.h"

#include "src/kernel/vector_baseline.h"

static float relu1(float value)
{
    return value < 0 ? 0.0f : value;
}

void zn_add_f32(const float *a, const float *b, bool relu, float *dst, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const four sum = four_load(a + i) + four_load(b + i);
        four_store(dst + i, relu ? four_relu(sum) : sum);
    }
    for (; i < n; i++) {
        const float sum = a[i] + b[i];
        dst[i] = relu ? relu1(sum) : sum;
    }
}

void zn_relu_f32(const float *src, float *dst, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) four_store(dst + i, four_relu(four_load(src + i)));
    for (; i < n; i++) dst[i] = relu1(src[i]);
}

void zn_relu_gradient_f32(const float *dy, const float *y, float *dst, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const four_mask positive = four_load(y + i) > (four){0};
        four_store(dst + i, (four)((four_mask)four_load(dy + i) & positive));
    }
    for (; i < n; i++) dst[i] = y[i] > 0 ? dy[i] : 0.0f;
}
