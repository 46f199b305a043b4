// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Four f32 lanes on every CPU, under some of the names of x86/vector_avx2.h, for bodies that serve
// the baseline too. A fused multiply-add rounds twice here.
#ifndef ZN_KERNEL_VECTOR_BASELINE_H
#define ZN_KERNEL_VECTOR_BASELINE_H

#include "src/kernel/four.h"
#include "src/tensor/type.h"

#define LANES       4
#define CONV_PIXELS 6

typedef four vec;

static inline vec vec_set1(float value)
{
    return (vec){value, value, value, value};
}

static inline vec vec_zero(void)
{
    return (vec){0};
}

static inline vec vec_add(vec a, vec b)
{
    return a + b;
}

static inline vec vec_fmadd(vec a, vec b, vec c)
{
    return a * b + c;
}

static inline vec vec_load_f32(const void *src)
{
    return four_load(src);
}

static inline vec vec_load_bf16(const void *src)
{
    uint16_t bits[LANES];
    memcpy(bits, src, sizeof bits);
    return (vec){zn_bf16_to_f32(bits[0]), zn_bf16_to_f32(bits[1]), zn_bf16_to_f32(bits[2]),
                 zn_bf16_to_f32(bits[3])};
}

static inline void vec_store_f32(void *dst, vec value)
{
    four_store(dst, value);
}

#endif
