// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// PIXELS pixels share each load of weights; a bf16 source is widened into a few hundred floats
// first, because a product wants its factor in all lanes. See grouped_product.h.
#include "src/kernel/spectral/grouped_product.h"

#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

#define INLINE static inline __attribute__((always_inline))

enum { GP_PIXELS = 8, GP_CHUNK = 4 * GP_PIXELS, GP_GROUPS = 4 };

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

// Fetches what the pixels a chunk further on will read: rows of few channels are soon through.
INLINE void gp_fetch(const zn_grouped_product_args *a, const gp_tile *t, int64_t at)
{
    const size_t from = a->src_type == ZN_F32 ? sizeof(float) : sizeof(uint16_t);
    const size_t sum = a->added_type == ZN_F32 ? sizeof(float) : sizeof(uint16_t);
    const int64_t step = a->groups * a->inputs;
    const char *src = (const char *)a->src + (size_t)(at + GP_CHUNK * step) * from;
    for (int p = 0; p < GP_PIXELS; p++) __builtin_prefetch(src + (size_t)(p * step) * from);
    if (!a->added) return;
    const char *added = (const char *)a->added + (size_t)(t->at + GP_PIXELS * t->channels) * sum;
    for (int p = 0; p < GP_PIXELS; p++) __builtin_prefetch(added + (size_t)(p * t->channels) * sum);
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
        gp_fetch(a, &t, at);
        gp_tile_run(a, &t);
    }
}

// --- four groups of LANES channels in f32 --------------------------------------------------------
//
// The matrix of a group then fits into registers, and everything that is not a product, the places
// of pixels too, is known before.

typedef struct gp_square_kind {
    zn_type src, added, dst;
    bool sums, relu;
} gp_square_kind;

// GP_PIXELS pixels of one group, from element `at` of the maps on.
INLINE void gp_square_tile(const zn_grouped_product_args *a, gp_square_kind kind,
                           const vec *weights, vec bias, int64_t at)
{
    enum { CHANNELS = GP_GROUPS * LANES };
    const bool wide = kind.src == ZN_F32;
    float widened[GP_PIXELS * LANES];
    const float *src = wide ? (const float *)a->src + at : widened;
    const int step = wide ? CHANNELS : LANES;
    vec sums[GP_PIXELS];
    UNROLL
    for (int p = 0; p < GP_PIXELS; p++) {
        sums[p] = bias;
        if (wide) __builtin_prefetch((const float *)a->src + at + (GP_CHUNK + p) * CHANNELS);
        if (!wide) vec_store_f32(widened + p * LANES, gp_load(kind.src, a->src, at + p * CHANNELS));
    }
    UNROLL
    for (int i = 0; i < LANES; i++) {
        UNROLL
        for (int p = 0; p < GP_PIXELS; p++)
            sums[p] = vec_fmadd(vec_set1(src[p * step + i]), weights[i], sums[p]);
    }
    UNROLL
    for (int p = 0; p < GP_PIXELS; p++) {
        if (kind.sums) sums[p] = vec_add(sums[p], gp_load(kind.added, a->added, at + p * CHANNELS));
        if (kind.relu) sums[p] = vec_relu(sums[p]);
        if (kind.dst == ZN_F32)
            vec_store_f32((float *)a->dst + at + p * CHANNELS, sums[p]);
        else
            vec_store_bf16((uint16_t *)a->dst + at + p * CHANNELS, sums[p]);
    }
}

INLINE void gp_square_run(const zn_grouped_product_args *a, gp_square_kind kind, int64_t begin,
                          int64_t end)
{
    for (int64_t group = 0; group < GP_GROUPS; group++) {
        const vec bias = a->bias ? vec_load_f32(a->bias + group * LANES) : vec_zero();
        vec weights[LANES];
        UNROLL
        for (int i = 0; i < LANES; i++)
            weights[i] = vec_load_f32(a->weights + (group * LANES + i) * LANES);
        for (int64_t pixel = begin; pixel < end; pixel += GP_PIXELS)
            gp_square_tile(a, kind, weights, bias, (pixel * GP_GROUPS + group) * LANES);
    }
}

// The kinds that there are, each a function of its own: in one the compiler runs out of registers
// for addresses.
typedef void gp_square_fn(const zn_grouped_product_args *a, int64_t begin, int64_t end);
#define GP_SQUARE(name, src, added, dst, sums, relu)                                               \
    static __attribute__((noinline)) void name(const zn_grouped_product_args *a, int64_t begin,    \
                                               int64_t end)                                        \
    {                                                                                              \
        gp_square_run(a, (gp_square_kind){src, added, dst, sums, relu}, begin, end);               \
    }
GP_SQUARE(gp_square, ZN_F32, ZN_F32, ZN_F32, false, false)
GP_SQUARE(gp_square_narrow, ZN_BF16, ZN_F32, ZN_F32, false, false)
GP_SQUARE(gp_square_relu, ZN_F32, ZN_F32, ZN_F32, true, true)
GP_SQUARE(gp_square_relu_narrow, ZN_F32, ZN_BF16, ZN_BF16, true, true)

// NULL: it is none of them.
INLINE gp_square_fn *gp_square_for(const zn_grouped_product_args *a)
{
    if (a->groups != GP_GROUPS || a->inputs != LANES || a->outputs != LANES) return NULL;
    if (!a->added && !a->relu && a->dst_type == ZN_F32)
        return a->src_type == ZN_F32 ? gp_square : gp_square_narrow;
    if (!a->added || !a->relu || a->src_type != ZN_F32 || a->added_type != a->dst_type) return NULL;
    return a->dst_type == ZN_F32 ? gp_square_relu : gp_square_relu_narrow;
}

// Pixels are taken a few at a time through all groups, so that they stay in the cache.
void VERSION(zn_grouped_product)(const zn_grouped_product_args *args, int64_t begin, int64_t end)
{
    const zn_grouped_product_args a = *args; // which no store can be suspected to change
    gp_square_fn *square = gp_square_for(&a);
    float widened[GP_PIXELS * ZN_GROUPED_INPUTS];
    for (int64_t pixel = begin; pixel < end; pixel += GP_CHUNK) {
        const int64_t last = pixel + GP_CHUNK < end ? pixel + GP_CHUNK : end;
        if (square && (last - pixel) % GP_PIXELS == 0) {
            square(&a, pixel, last);
            continue;
        }
        for (int64_t group = 0; group < a.groups; group++) {
            if (a.src_type == ZN_F32)
                gp_group(&a, pixel, last, group, NULL);
            else
                gp_group(&a, pixel, last, group, widened);
        }
    }
}
