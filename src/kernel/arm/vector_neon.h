// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Four f32 lanes of 64-bit Arm, under the same names and with the same results as
// x86/vector_avx2.h, which says what each function does. All of it is in the architecture's first
// version.
#ifndef ZN_KERNEL_ARM_VECTOR_NEON_H
#define ZN_KERNEL_ARM_VECTOR_NEON_H

#ifndef __aarch64__
#error "this file needs 64-bit Arm"
#endif

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VERSION(name) name##_neon
#define VERSION_NAME  "neon"
#define LANES         4
#define CONV_PIXELS                                                                                \
    12 // x 2 vectors: 24 accumulators, 2 weights and a pixel fill 27 of 32 registers

typedef float32x4_t vec;
typedef float64x2_t vec_f64;

static inline vec vec_set1(float value)
{
    return vdupq_n_f32(value);
}

static inline vec vec_zero(void)
{
    return vdupq_n_f32(0);
}

static inline vec vec_add(vec a, vec b)
{
    return vaddq_f32(a, b);
}

static inline vec vec_sub(vec a, vec b)
{
    return vsubq_f32(a, b);
}

static inline vec vec_div(vec a, vec b)
{
    return vdivq_f32(a, b);
}

static inline vec vec_mul(vec a, vec b)
{
    return vmulq_f32(a, b);
}

static inline vec vec_fmadd(vec a, vec b, vec c)
{
    return vfmaq_f32(c, a, b);
}

static inline vec vec_add_product(vec sum, vec a, vec b)
{
    return vfmaq_f32(sum, a, b);
}

// Not FMAX, which gives a NaN where one of the two is NaN.
static inline vec vec_max(vec a, vec b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline vec vec_min(vec a, vec b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

static inline vec vec_times_power2(vec a, vec n)
{
    const int32x4_t whole = vcvtnq_s32_f32(n), half = vshrq_n_s32(whole, 1);
    const int32x4_t rest = vsubq_s32(whole, half), one = vdupq_n_s32(127);
    const int32x4_t first = vshlq_n_s32(vaddq_s32(half, one), 23);
    const int32x4_t second = vshlq_n_s32(vaddq_s32(rest, one), 23);
    return vmulq_f32(vmulq_f32(a, vreinterpretq_f32_s32(first)), vreinterpretq_f32_s32(second));
}

static inline vec vec_power2_parts(vec t, vec *fraction)
{
    t = vec_min(vec_set1(150.0f), vec_max(vec_set1(-150.0f), t));
    const vec n = vrndmq_f32(t);
    *fraction = vsubq_f32(t, n);
    return n;
}

static inline vec vec_and(uint32x4_t mask, vec a)
{
    return vreinterpretq_f32_u32(vandq_u32(mask, vreinterpretq_u32_f32(a)));
}

static inline vec vec_relu(vec a) // NaN and -0 stay
{
    return vec_and(vmvnq_u32(vcltzq_f32(a)), a);
}

static inline vec vec_where_positive(vec y, vec a)
{
    return vec_and(vcgtzq_f32(y), a);
}

static inline vec vec_abs(vec a)
{
    return vabsq_f32(a);
}

static inline vec vec_copy_sign(vec a, vec sign)
{
    return vbslq_f32(vdupq_n_u32(0x80000000u), sign, a);
}

static inline vec vec_swap1(vec a)
{
    return vrev64q_f32(a);
}

static inline vec vec_swap2(vec a)
{
    return vextq_f32(a, a, 2);
}

static inline vec vec_load_f32(const void *src)
{
    return vld1q_f32(src);
}

static inline vec vec_load_bf16(const void *src)
{
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(vld1_u16(src)), 16));
}

static inline vec vec_load_first_bf16(const void *src)
{
    return vreinterpretq_f32_u32(vshlq_n_u32(vld1q_u32(src), 16));
}

static inline vec vec_load_second_bf16(const void *src)
{
    return vreinterpretq_f32_u32(vandq_u32(vld1q_u32(src), vdupq_n_u32(0xffff0000u)));
}

static inline vec vec_load_bf16x2(const void *src)
{
    return vaddq_f32(vec_load_first_bf16(src), vec_load_second_bf16(src));
}

static inline vec vec_load_f16(const void *src)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(src)));
}

static inline vec vec_load_u8(const void *src)
{
    uint32_t bytes;
    memcpy(&bytes, src, sizeof bytes);
    const uint16x8_t words = vmovl_u8(vcreate_u8(bytes));
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(words)));
}

static inline vec vec_load_s8(const void *src)
{
    uint32_t bytes;
    memcpy(&bytes, src, sizeof bytes);
    const int16x8_t words = vmovl_s8(vcreate_s8(bytes));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
}

static inline void vec_store_f32(void *dst, vec value)
{
    vst1q_f32(dst, value);
}

static inline uint32x4_t vec_to_bf16(vec value)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(value), top = vshrq_n_u32(bits, 16);
    const uint32x4_t bias = vaddq_u32(vandq_u32(top, vdupq_n_u32(1)), vdupq_n_u32(0x7fff));
    const uint32x4_t rounded = vshrq_n_u32(vaddq_u32(bits, bias), 16);
    const uint32x4_t quiet = vorrq_u32(top, vdupq_n_u32(0x40));
    return vbslq_u32(vceqq_f32(value, value), rounded, quiet);
}

static inline void vec_store_bf16(void *dst, vec value)
{
    vst1_u16(dst, vmovn_u32(vec_to_bf16(value)));
}

static inline void vec_store_f16(void *dst, vec value)
{
    vst1_u16(dst, vreinterpret_u16_f16(vcvt_f16_f32(value)));
}

static inline void vec_store_bf16x2(void *dst, vec value)
{
    const uint32x4_t high = vec_to_bf16(value);
    const vec rest = vsubq_f32(value, vreinterpretq_f32_u32(vshlq_n_u32(high, 16)));
    const uint32x4_t finite = vceqzq_f32(vsubq_f32(rest, rest)); // not beside infinities and NaN
    const uint32x4_t low = vandq_u32(finite, vshlq_n_u32(vec_to_bf16(rest), 16));
    vst1q_u32(dst, vorrq_u32(high, low));
}

static inline int16x4_t vec_quantise(vec value, float low, float high)
{
    const vec number = vec_and(vceqq_f32(value, value), value);
    const vec above = vec_max(number, vec_set1(low));
    return vmovn_s32(vcvtnq_s32_f32(vec_min(above, vec_set1(high))));
}

static inline void vec_store_u8(void *dst, vec value)
{
    const int16x4_t words = vec_quantise(value, 0.0f, 255.0f);
    const uint8x8_t bytes = vmovn_u16(vreinterpretq_u16_s16(vcombine_s16(words, words)));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
    memcpy(dst, &four, sizeof four);
}

static inline void vec_store_s8(void *dst, vec value)
{
    const int16x4_t words = vec_quantise(value, -128.0f, 127.0f);
    const int8x8_t bytes = vmovn_s16(vcombine_s16(words, words));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_s8(bytes), 0);
    memcpy(dst, &four, sizeof four);
}

static inline vec vec_load_part(const float *src, int64_t count)
{
    if (count >= LANES) return vld1q_f32(src);
    float lanes[LANES] = {0};
    if (count > 0) memcpy(lanes, src, (size_t)count * sizeof *src);
    return vld1q_f32(lanes);
}

static inline void vec_store_part(float *dst, int64_t count, vec value)
{
    if (count >= LANES) {
        vst1q_f32(dst, value);
        return;
    }
    float lanes[LANES];
    vst1q_f32(lanes, value);
    if (count > 0) memcpy(dst, lanes, (size_t)count * sizeof *dst);
}

static inline void vec_where_positive_bf16(const void *y, const void *a, void *dst)
{
    const int16x8_t bits = vld1q_s16(y);
    const uint16x8_t positive = vandq_u16(vcgtzq_s16(bits), vcltq_s16(bits, vdupq_n_s16(0x7f81)));
    vst1q_u16(dst, vandq_u16(positive, vld1q_u16(a)));
}

static inline vec_f64 vec_f64_zero(void)
{
    return vdupq_n_f64(0);
}

static inline vec_f64 vec_f64_set1(double value)
{
    return vdupq_n_f64(value);
}

static inline vec_f64 vec_low_f64(vec value)
{
    return vcvt_f64_f32(vget_low_f32(value));
}

static inline vec_f64 vec_high_f64(vec value)
{
    return vcvt_high_f64_f32(value);
}

static inline vec_f64 vec_f64_add(vec_f64 a, vec_f64 b)
{
    return vaddq_f64(a, b);
}

static inline vec_f64 vec_f64_fmadd(vec_f64 a, vec_f64 b, vec_f64 c)
{
    return vfmaq_f64(c, a, b);
}

static inline void vec_f64_store(double *dst, vec_f64 value)
{
    vst1q_f64(dst, value);
}

#endif
