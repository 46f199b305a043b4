// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the versions of attention share, in tiles or not, in the names of x86/vector_*.h (or
// vector_baseline.h), which the including file has included: how a block of queries begins and
// ends, and the largest and the sum of a vector's lanes.
#ifndef ZN_KERNEL_ATTENTION_ENDS_H
#define ZN_KERNEL_ATTENTION_ENDS_H

#include "src/kernel/attention/attention.h"
#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { PANEL = ZN_ATTENTION_PANEL, KEYS = ZN_ATTENTION_KEYS };

// Halves upon halves, which the compiler makes shuffles of: a chain of single lanes would be as
// long as the products of a narrow head.
INLINE float at_largest(vec value)
{
    float lanes[LANES];
    vec_store_f32(lanes, value);
    UNROLL
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] = lanes[i + half] > lanes[i] ? lanes[i + half] : lanes[i];
    return lanes[0];
}

INLINE float at_total(vec value)
{
    float lanes[LANES];
    vec_store_f32(lanes, value);
    UNROLL
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}

static inline void at_begin(const zn_attention_args *a)
{
    const int64_t padded = zn_attention_padded(a->width);
    memset(a->sums, 0, (size_t)(a->queries * padded) * sizeof *a->sums);
    for (int64_t i = 0; i < a->queries; i++) {
        a->state->largest[i] = -INFINITY;
        a->state->total[i] = 0;
    }
}

static inline void at_finish(const zn_attention_args *a)
{
    const int64_t padded = zn_attention_padded(a->width);
    for (int64_t i = 0; i < a->queries; i++) {
        const vec total = vec_set1(a->state->total[i]);
        float *sums = a->sums + i * padded;
        for (int64_t c = 0; c < a->width; c += LANES)
            vec_store_f32(sums + c, vec_div(vec_load_f32(sums + c), total));
    }
}

#endif
