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

static inline vec vec_relu(vec a)
{
    return (vec)((four_mask)a & ~(a < (vec){0}));
}

static inline vec vec_where_positive(vec y, vec a)
{
    return (vec)((four_mask)a & (y > (vec){0}));
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

static inline void vec_store_bf16(void *dst, vec value)
{
    const uint16_t bits[LANES] = {zn_f32_to_bf16(value[0]), zn_f32_to_bf16(value[1]),
                                  zn_f32_to_bf16(value[2]), zn_f32_to_bf16(value[3])};
    memcpy(dst, bits, sizeof bits);
}

static inline void vec_where_positive_bf16(const void *y, const void *a, void *dst)
{
    typedef int16_t eight __attribute__((vector_size(16)));
    eight bits, from;
    memcpy(&bits, y, sizeof bits);
    memcpy(&from, a, sizeof from);
    from &= (bits > 0) & (bits < 0x7f81);
    memcpy(dst, &from, sizeof from);
}

#endif
