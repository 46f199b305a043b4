// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The product that attention and its gradients consist of, in the names of x86/vector_*.h (or
// vector_baseline.h), which the including file has included: rows of f32, a factor in all lanes at
// a time, times panels (kernel/attention/attention.h). CONV_PIXELS rows and two vectors of columns
// stay in registers while the depth runs; each sum runs in the order of the depth. bf16 is widened
// as it is loaded.
#ifndef ZN_KERNEL_ATTENTION_PRODUCT_H
#define ZN_KERNEL_ATTENTION_PRODUCT_H

#include "src/kernel/attention/attention_ends.h"
#include "src/kernel/unroll.h"

typedef struct at_product {
    const float *left; // [rows][left_step]
    int64_t left_step;
    const void *right; // of the first column, at the first depth
    int64_t depth;     // even
    float *dst;        // [rows][dst_step]
    int64_t dst_step;
    const float *factor; // of each row: what dst is scaled by before the product is added
    const char *ahead;   // memory to bring near: what is multiplied next
} at_product;

enum { AT_NEAR = 1024 }; // bytes by which panels are brought into the first-level cache before use

// Depth k of two vectors of columns; second: depth k + 1.
INLINE vec at_load(zn_type type, const void *right, int64_t k, int second, int vector)
{
    if (type == ZN_F32)
        return vec_load_f32((const float *)right + (k + second) * PANEL + vector * LANES);
    const uint16_t *pairs = (const uint16_t *)right + k * PANEL + vector * 2 * LANES;
    return second ? vec_load_second_bf16(pairs) : vec_load_first_bf16(pairs);
}

// `rows` and the type are constants at each call, so that acc lives in registers. Four rows hang on
// one pointer: that is what addresses can reach.
INLINE void at_block(const at_product *p, const zn_type type, const bool adds, const int rows)
{
    vec acc[CONV_PIXELS][2];
    UNROLL
    for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = vec_zero();
    int64_t step = p->left_step * (int64_t)sizeof(float), step3 = 3 * step;
    const int64_t depth = p->depth, next = 2 * sizeof(float);
    const char *left0 = (const char *)p->left, *left4 = left0 + 4 * step, *left8 = left0 + 8 * step;
    FORGET(step);
    FORGET(step3);
    const size_t depth_bytes = PANEL * (type == ZN_F32 ? sizeof(float) : sizeof(uint16_t));
    const char *near = (const char *)p->right + AT_NEAR, *ahead = p->ahead;
    for (int64_t k = 0; k < depth; k += 2, left0 += next, left4 += next, left8 += next) {
        for (size_t i = 0; i < 2 * depth_bytes; i += 64) __builtin_prefetch(near + i, 0, 3);
        near += 2 * depth_bytes;
        __builtin_prefetch(ahead, 0, 2);
        ahead += 64;
        UNROLL
        for (int i = 0; i < 2; i++) {
            const vec w0 = at_load(type, p->right, k, i, 0), w1 = at_load(type, p->right, k, i, 1);
            UNROLL
            for (int r = 0; r < rows; r++) {
                const char *left = r < 4 ? left0 : r < 8 ? left4 : left8;
                const char *at = left + (r % 4 == 3 ? step3 : r % 4 * step);
                const vec value = vec_set1(((const float *)(const void *)at)[i]);
                acc[r][0] = vec_add_product(acc[r][0], value, w0);
                acc[r][1] = vec_add_product(acc[r][1], value, w1);
            }
        }
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        float *dst = p->dst + r * p->dst_step;
        if (adds) {
            const vec factor = vec_set1(p->factor[r]);
            acc[r][0] = vec_fmadd(vec_load_f32(dst), factor, acc[r][0]);
            acc[r][1] = vec_fmadd(vec_load_f32(dst + LANES), factor, acc[r][1]);
        }
        vec_store_f32(dst, acc[r][0]);
        vec_store_f32(dst + LANES, acc[r][1]);
    }
}

INLINE void at_next(at_product *p, int rows, bool adds)
{
    p->left += rows * p->left_step;
    p->ahead += p->depth / 2 * 64;
    p->dst += rows * p->dst_step;
    if (adds) p->factor += rows;
}

#define AT_PRODUCT(name, type, adds)                                                               \
    static void name(at_product p, int64_t rows)                                                   \
    {                                                                                              \
        for (; rows >= CONV_PIXELS; rows -= CONV_PIXELS, at_next(&p, CONV_PIXELS, adds))           \
            at_block(&p, type, adds, CONV_PIXELS);                                                 \
        for (; rows >= 4; rows -= 4, at_next(&p, 4, adds)) at_block(&p, type, adds, 4);            \
        for (; rows >= 1; rows -= 1, at_next(&p, 1, adds)) at_block(&p, type, adds, 1);            \
    }
// The place of an element of panels, from which at_load counts.
INLINE const void *at_place(zn_type type, const void *panels, int64_t depths, int64_t column,
                            int64_t depth)
{
    const size_t size = type == ZN_F32 ? sizeof(float) : sizeof(uint16_t);
    return (const uint8_t *)panels + zn_attention_place(type, depths, column, depth) * size;
}

#endif
