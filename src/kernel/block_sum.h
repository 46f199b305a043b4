// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The inner loop of the scalar convolutions, on the four lanes that every CPU has.
#ifndef ZN_KERNEL_BLOCK_SUM_H
#define ZN_KERNEL_BLOCK_SUM_H

#include "src/kernel/four.h"

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

#endif
