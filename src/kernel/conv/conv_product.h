// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The product of matrices that convolutions in a transformed domain consist of, written in the
// names of x86/vector_*.h, which the including file has included:
//
//     dst[t][lane] = sum over k of left[t][k] * right[k][lane]
//
// for a few tiles t and one or two vectors of lanes. A block of up to CONV_PIXELS tiles stays in
// registers while k runs; each sum runs in the order of k, from 0.
#ifndef ZN_KERNEL_CONV_PRODUCT_H
#define ZN_KERNEL_CONV_PRODUCT_H

#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

#ifdef ZN_BASELINE

// The inner loop of the scalar convolutions, on the four lanes that every CPU has.
enum { BLOCK_SUM = 16 }; // output channels that lie together in packed weights

// acc[j] += sum over k of src[k] * weights[k][j], in the order of k.
static inline void block_sum(const float *src, int64_t k_count, const float *weights,
                             float acc[BLOCK_SUM])
{
    four sum0 = four_load(acc), sum1 = four_load(acc + 4);
    four sum2 = four_load(acc + 8), sum3 = four_load(acc + 12);
    for (int64_t k = 0; k < k_count; k++, weights += BLOCK_SUM) {
        sum0 += src[k] * four_load(weights);
        sum1 += src[k] * four_load(weights + 4);
        sum2 += src[k] * four_load(weights + 8);
        sum3 += src[k] * four_load(weights + 12);
    }
    four_store(acc, sum0);
    four_store(acc + 4, sum1);
    four_store(acc + 8, sum2);
    four_store(acc + 12, sum3);
}

#else

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { PRODUCT_BLOCK = 16, PRODUCT_ROW = 2 * LANES }; // lanes of a row of `right`, and of `dst`

typedef struct product {
    const float *left;
    int64_t left_step; // floats from a tile to the next
    const float *right;
    int64_t second;  // floats from the first vector of lanes to the second
    int64_t k_count; // a multiple of 4
    float *dst;
    int64_t dst_step;
} product;

// `tiles` and `vectors` are constants at each call, so that acc lives in registers. Four tiles hang
// on one pointer, and four k are one turn: that is what addresses with a displacement can reach.
ALWAYS_INLINE void product_block(const product *p, const int tiles, const int vectors)
{
    vec acc[CONV_PIXELS][2];
    UNROLL
    for (int t = 0; t < tiles; t++) acc[t][0] = acc[t][1] = vec_zero();
    const int64_t step = p->left_step, second = p->second;
    const float *left0 = p->left, *left4 = left0 + 4 * step, *left8 = left0 + 8 * step;
    const float *right = p->right;
    for (int64_t k = 0; k < p->k_count; k += 4, left0 += 4, left4 += 4, left8 += 4) {
        UNROLL
        for (int i = 0; i < 4; i++, right += PRODUCT_BLOCK) {
            const vec w0 = vec_load_f32(right);
            const vec w1 = vectors > 1 ? vec_load_f32(right + second) : w0;
            UNROLL
            for (int t = 0; t < tiles; t++) {
                const float *left = t < 4 ? left0 : t < 8 ? left4 : left8;
                const vec value = vec_set1(left[t % 4 * step + i]);
                acc[t][0] = vec_fmadd(value, w0, acc[t][0]);
                if (vectors > 1) acc[t][1] = vec_fmadd(value, w1, acc[t][1]);
            }
        }
    }
    UNROLL
    for (int t = 0; t < tiles; t++) {
        vec_store_f32(p->dst + t * p->dst_step, acc[t][0]);
        if (vectors > 1) vec_store_f32(p->dst + t * p->dst_step + LANES, acc[t][1]);
    }
}

#define PRODUCT_CASE(tiles)                                                                        \
    case tiles:                                                                                    \
        product_block(p, tiles, vectors);                                                          \
        break;

ALWAYS_INLINE void product_tiles(const product *p, int64_t tiles, const int vectors)
{
    switch (tiles) {
        PRODUCT_CASE(1)
        PRODUCT_CASE(2)
        PRODUCT_CASE(3)
        PRODUCT_CASE(4)
        PRODUCT_CASE(5)
        PRODUCT_CASE(6)
#if CONV_PIXELS > 6
        PRODUCT_CASE(7)
        PRODUCT_CASE(8)
        PRODUCT_CASE(9)
        PRODUCT_CASE(10)
        PRODUCT_CASE(11)
        PRODUCT_CASE(12)
#endif
    default:
        break;
    }
}

static void product_one_vector(const product *p, int64_t tiles)
{
    product_tiles(p, tiles, 1);
}

static void product_two_vectors(const product *p, int64_t tiles)
{
    product_tiles(p, tiles, 2);
}

// Any number of tiles, in blocks of nearly equal size: a small one would wait for the latency of
// the multiply-add.
static void product_run(product p, int64_t tiles, int vectors)
{
    const int64_t blocks = (tiles + CONV_PIXELS - 1) / CONV_PIXELS;
    for (int64_t block = 0, done = 0; block < blocks; block++) {
        const int64_t count = tiles * (block + 1) / blocks - done;
        if (vectors > 1)
            product_two_vectors(&p, count);
        else
            product_one_vector(&p, count);
        p.left += count * p.left_step;
        p.dst += count * p.dst_step;
        done += count;
    }
}

// From the packed weights [out / BLOCK][k][BLOCK] of one vector of output channels to the next's.
static int64_t product_second(int64_t block_weights)
{
    return LANES < PRODUCT_BLOCK ? LANES : block_weights;
}

#endif

#endif
