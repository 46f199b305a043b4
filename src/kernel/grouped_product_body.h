// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector version of grouped_product.h, in the names of x86/vector_*.h, which the including file has
// included (or vector_baseline.h). PIXELS pixels share each load of weights; a bf16 source is widened
// into a few hundred floats first, because a product wants its factor in all lanes.
#include "src/kernel/grouped_product.h"
#include "src/kernel/unroll.h"

#define INLINE static inline __attribute__((always_inline))

enum { GP_PIXELS = 8 };

// Up to GP_PIXELS pixels of one group: where they are, and how far apart.
typedef struct gp_tile {
    const float *src; // of the group's first input
    int64_t stride;   // of src, from pixel to pixel
    int64_t at;       // element of added and dst: the first pixel's first output of the group
    int64_t channels; // of dst, all groups
    const float *weights, *bias;
    int count;
} gp_tile;

INLINE vec gp_load(zn_type type, const void *map, int64_t at)
{
    return type == ZN_F32 ? vec_load_f32((const float *)map + at)
                          : vec_load_bf16((const uint16_t *)map + at);
}

// Vectors of outputs at once: two share each input's broadcast where there are registers for it.
#define GP_VECTORS (LANES == 4 ? 1 : 2)

INLINE void gp_store(const zn_grouped_product_args *a, const gp_tile *t, int64_t output, int count,
                     const vec *sums)
{
    UNROLL
    for (int p = 0; p < count; p++) {
        const int64_t at = t->at + p * t->channels + output;
        vec sum = sums[p];
        if (a->added) sum = vec_add(sum, gp_load(a->added_type, a->added, at));
        if (a->relu) sum = vec_relu(sum);
        if (a->dst_type == ZN_F32)
            vec_store_f32((float *)a->dst + at, sum);
        else
            vec_store_bf16((uint16_t *)a->dst + at, sum);
    }
}

// `vectors` vectors of outputs of `count` pixels.
INLINE void gp_sums(const zn_grouped_product_args *a, const gp_tile *t, int64_t output, int count,
                    int vectors)
{
    vec sums[2][GP_PIXELS];
    UNROLL
    for (int v = 0; v < vectors; v++) {
        const vec begin = t->bias ? vec_load_f32(t->bias + output + v * LANES) : vec_zero();
        UNROLL
        for (int p = 0; p < count; p++) sums[v][p] = begin;
    }
    const float *weights = t->weights + output;
    for (int64_t i = 0; i < a->inputs; i++, weights += a->outputs) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const vec weight = vec_load_f32(weights + v * LANES);
            UNROLL
            for (int p = 0; p < count; p++)
                sums[v][p] = vec_fmadd(vec_set1(t->src[p * t->stride + i]), weight, sums[v][p]);
        }
    }
    UNROLL
    for (int v = 0; v < vectors; v++) gp_store(a, t, output + v * LANES, count, sums[v]);
}

INLINE void gp_vectors(const zn_grouped_product_args *a, const gp_tile *t, int count)
{
    int64_t output = 0;
    for (; output + GP_VECTORS * LANES <= a->outputs; output += GP_VECTORS * LANES)
        gp_sums(a, t, output, count, GP_VECTORS);
    for (; output + LANES <= a->outputs; output += LANES) gp_sums(a, t, output, count, 1);
}

// Outputs that are no whole vector.
INLINE void gp_rest(const zn_grouped_product_args *a, const gp_tile *t)
{
    for (int64_t output = a->outputs / LANES * LANES; output < a->outputs; output++) {
        for (int p = 0; p < t->count; p++) {
            const size_t at = (size_t)(t->at + p * t->channels + output);
            float sum = t->bias ? t->bias[output] : 0;
            for (int64_t i = 0; i < a->inputs; i++)
                sum += t->src[p * t->stride + i] * t->weights[i * a->outputs + output];
            if (a->added) sum += zn_type_load(a->added_type, a->added, at);
            if (a->relu && sum < 0) sum = 0;
            zn_type_store(a->dst_type, a->dst, at, sum);
        }
    }
}

INLINE void gp_tile_run(const zn_grouped_product_args *a, const gp_tile *t)
{
    if (t->count == GP_PIXELS) {
        gp_vectors(a, t, GP_PIXELS);
    } else {
        for (int p = 0; p < t->count; p++) {
            gp_tile one = *t;
            one.src += p * t->stride;
            one.at += p * t->channels;
            gp_vectors(a, &one, 1);
        }
    }
    gp_rest(a, t);
}

INLINE void gp_widen(const zn_grouped_product_args *a, int64_t at, int count, float *widened)
{
    const uint16_t *src = (const uint16_t *)a->src + at;
    for (int p = 0; p < count; p++, src += a->groups * a->inputs) {
        for (int64_t i = 0; i < a->inputs; i++) widened[p * a->inputs + i] = zn_bf16_to_f32(src[i]);
    }
}

// One group of the pixels [begin, end).
INLINE void gp_group(const zn_grouped_product_args *a, int64_t begin, int64_t end, int64_t group,
                     float *widened)
{
    const int64_t from = a->groups * a->inputs, to = a->groups * a->outputs;
    gp_tile t = {.stride = widened ? a->inputs : from,
                 .channels = to,
                 .weights = a->weights + group * a->inputs * a->outputs,
                 .bias = a->bias ? a->bias + group * a->outputs : NULL};
    for (int64_t pixel = begin; pixel < end; pixel += GP_PIXELS) {
        const int64_t at = pixel * from + group * a->inputs;
        t.count = (int)(end - pixel < GP_PIXELS ? end - pixel : GP_PIXELS);
        t.at = pixel * to + group * a->outputs;
        if (widened) gp_widen(a, at, t.count, widened);
        t.src = widened ? widened : (const float *)a->src + at;
        gp_tile_run(a, &t);
    }
}

// Pixels are taken a few at a time through all groups, so that they stay in the cache.
static void grouped_product(const zn_grouped_product_args *args, int64_t begin, int64_t end)
{
    enum { CHUNK = 4 * GP_PIXELS };
    const zn_grouped_product_args a = *args; // which no store can be suspected to change
    float widened[GP_PIXELS * ZN_GROUPED_INPUTS];
    for (int64_t pixel = begin; pixel < end; pixel += CHUNK) {
        const int64_t last = pixel + CHUNK < end ? pixel + CHUNK : end;
        for (int64_t group = 0; group < a.groups; group++) {
            if (a.src_type == ZN_F32)
                gp_group(&a, pixel, last, group, NULL);
            else
                gp_group(&a, pixel, last, group, widened);
        }
    }
}
