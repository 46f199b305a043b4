// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of rope.h, in double, and the version in vectors. In halves, both channels of a
// pair are in vectors of their own. In pairs of neighbours, a vector is multiplied by the cosines,
// each twice, and its neighbours changed over by the sines, each with both signs; these are spread
// out once for all heads of a token. What is left goes one by one.
#include "src/kernel/attention/rope.h"

#include "src/kernel/vector.h"

#ifdef ZN_BASELINE // the specification

static void turn_head(const zn_rotation *how, const float *x, const float *table, float *dst)
{
    const size_t pairs = how->width / 2;
    for (size_t i = 0; i < pairs; i++) {
        const size_t first = how->halves ? i : 2 * i, second = how->halves ? i + pairs : 2 * i + 1;
        const double a = (double)x[first], b = (double)x[second];
        const double c = (double)table[i];
        const double s = how->back ? -(double)table[pairs + i] : (double)table[pairs + i];
        dst[first] = (float)(a * c - b * s);
        dst[second] = (float)(a * s + b * c);
    }
}

void zn_rope_reference(const zn_rotation *how, const float *x, const float *table, size_t tokens,
                       float *dst)
{
    for (size_t token = 0; token < tokens; token++, table += how->width) {
        for (size_t head = 0; head < how->heads; head++, x += how->width, dst += how->width)
            turn_head(how, x, table, dst);
    }
}

#else // in vectors

enum { ROPE_SPREAD = 512 }; // channels whose cosines and sines are spread out at a time

static void rope_scalar_pairs(const zn_rotation *how, const float *x, const float *table,
                              size_t from, size_t to, float *dst)
{
    const size_t pairs = how->width / 2;
    for (size_t i = from; i < to; i++) {
        const size_t first = how->halves ? i : 2 * i, second = how->halves ? i + pairs : 2 * i + 1;
        const double a = (double)x[first], b = (double)x[second];
        const double c = (double)table[i];
        const double s = how->back ? -(double)table[pairs + i] : (double)table[pairs + i];
        dst[first] = (float)(a * c - b * s);
        dst[second] = (float)(a * s + b * c);
    }
}

static void rope_halves(const zn_rotation *how, const float *x, const float *table, float *dst)
{
    const size_t pairs = how->width / 2, whole = pairs / LANES * LANES;
    const vec sign = vec_set1(how->back ? -1.0f : 1.0f);
    for (size_t i = 0; i < whole; i += LANES) {
        const vec a = vec_load_f32(x + i), b = vec_load_f32(x + pairs + i);
        const vec c = vec_load_f32(table + i);
        const vec s = vec_mul(vec_load_f32(table + pairs + i), sign),
                  minus = vec_sub(vec_zero(), s);
        vec_store_f32(dst + i, vec_fmadd(a, c, vec_mul(b, minus)));
        vec_store_f32(dst + pairs + i, vec_fmadd(a, s, vec_mul(b, c)));
    }
    rope_scalar_pairs(how, x, table, whole, pairs, dst);
}

// The channels [from, from + count) of all heads of a token; count is a multiple of LANES.
static void rope_neighbours(const zn_rotation *how, const float *x, const float *table, size_t from,
                            size_t count, float *dst)
{
    float c[ROPE_SPREAD], s[ROPE_SPREAD];
    const float *sines = table + how->width / 2;
    for (size_t i = 0; i < count; i++) {
        const float sine = sines[(from + i) / 2];
        c[i] = table[(from + i) / 2];
        s[i] = (i % 2 == 0) != how->back ? -sine : sine;
    }
    for (size_t head = 0; head < how->heads; head++) {
        const float *in = x + head * how->width + from;
        float *out = dst + head * how->width + from;
        for (size_t i = 0; i < count; i += LANES) {
            const vec value = vec_load_f32(in + i);
            const vec other = vec_mul(vec_swap1(value), vec_load_f32(s + i));
            vec_store_f32(out + i, vec_fmadd(value, vec_load_f32(c + i), other));
        }
    }
}

static void rope_token(const zn_rotation *how, const float *x, const float *table, float *dst)
{
    const size_t whole = how->width / LANES * LANES;
    for (size_t from = 0; from < whole && !how->halves; from += ROPE_SPREAD) {
        const size_t left = whole - from;
        rope_neighbours(how, x, table, from, left < ROPE_SPREAD ? left : ROPE_SPREAD, dst);
    }
    for (size_t head = 0; head < how->heads; head++, x += how->width, dst += how->width) {
        if (how->halves)
            rope_halves(how, x, table, dst);
        else
            rope_scalar_pairs(how, x, table, whole / 2, how->width / 2, dst);
    }
}

void VERSION(zn_rope)(const zn_rotation *how, const float *x, const float *table, size_t tokens,
                      float *dst)
{
    const size_t all = how->heads * how->width;
    for (size_t token = 0; token < tokens; token++, table += how->width, x += all, dst += all)
        rope_token(how, x, table, dst);
}

#endif
