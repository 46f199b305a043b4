// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Four f32 lanes on every CPU, under some of the names of x86/vector_avx2.h, for kernels that serve
// the baseline too. A fused multiply-add rounds twice here.
#ifndef ZN_KERNEL_VECTOR_BASELINE_H
#define ZN_KERNEL_VECTOR_BASELINE_H

#include "src/tensor/type.h"

#include <stdint.h>
#include <string.h>

// The compiler's own vector type, which every CPU we build for has (SSE2, NEON). Loops of the
// baseline that matter are written in it: left to themselves, compilers unroll short inner loops
// and then miss them, and give up where dst may be src (measured: 5 to 10 times slower).
typedef float four __attribute__((vector_size(16)));
typedef int32_t four_mask __attribute__((vector_size(16)));
typedef uint32_t four_bits __attribute__((vector_size(16)));

static inline four four_load(const float *src)
{
    four value;
    memcpy(&value, src, sizeof value);
    return value;
}

static inline void four_store(float *dst, four value)
{
    memcpy(dst, &value, sizeof value);
}

static inline four four_relu(four value) // NaN and -0 stay
{
    const four_mask negative = value < (four){0};
    return (four)((four_mask)value & ~negative);
}

#define VERSION(name) name##_baseline
#define VERSION_NAME  "baseline"
#define LANES         4
#define CONV_PIXELS   6

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

static inline vec vec_sub(vec a, vec b)
{
    return a - b;
}

static inline vec vec_mul(vec a, vec b)
{
    return a * b;
}

static inline vec vec_div(vec a, vec b)
{
    return a / b;
}

static inline vec vec_choose(four_mask mask, vec a, vec b) // a where the mask is set
{
    return (vec)((mask & (four_mask)a) | (~mask & (four_mask)b));
}

static inline vec vec_max(vec a, vec b)
{
    return vec_choose(a > b, a, b);
}

static inline vec vec_min(vec a, vec b)
{
    return vec_choose(a < b, a, b);
}

static inline vec vec_times_power2(vec a, vec n)
{
    // A NaN has no integer, and need have none: it stays what a is.
    const four_mask whole = __builtin_convertvector(vec_choose(n == n, n, (vec){0}), four_mask);
    const four_mask half = whole >> 1, rest = whole - half;
    return a * (vec)((half + 127) << 23) * (vec)((rest + 127) << 23);
}

static inline vec vec_power2_parts(vec t, vec *fraction)
{
    t = vec_min(vec_set1(150.0f), vec_max(vec_set1(-150.0f), t));
    const four_mask towards_0 = __builtin_convertvector(vec_choose(t == t, t, (vec){0}), four_mask);
    const vec near = __builtin_convertvector(towards_0, vec);
    const vec n = near - vec_choose(near > t, vec_set1(1.0f), (vec){0});
    *fraction = t - n;
    return n;
}

static inline vec vec_fmadd(vec a, vec b, vec c)
{
    return a * b + c;
}

static inline vec vec_add_product(vec sum, vec a, vec b)
{
    return vec_fmadd(a, b, sum);
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

static inline vec vec_load_first_bf16(const void *src)
{
    four_bits words;
    memcpy(&words, src, sizeof words);
    return (vec)(words << 16);
}

static inline vec vec_load_second_bf16(const void *src)
{
    four_bits words;
    memcpy(&words, src, sizeof words);
    return (vec)(words & 0xffff0000u);
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
