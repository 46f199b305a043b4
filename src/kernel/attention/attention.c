// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Both products of attention.h have the same shape (attention_product.h); everything is computed in
// f32.
#include "src/kernel/attention/attention.h"

#include "src/kernel/attention/attention_product.h"
#include "src/kernel/pointwise/vector_exp.h"
#include "src/kernel/vector.h"

AT_PRODUCT(at_scores_f32, ZN_F32, false)
AT_PRODUCT(at_scores_bf16, ZN_BF16, false)
AT_PRODUCT(at_values_f32, ZN_F32, true)
AT_PRODUCT(at_values_bf16, ZN_BF16, true)

// scores[row][0 .. count) of the rows from `first` on.
static void at_scores(const zn_attention_args *a, int64_t first, int64_t key, int64_t count)
{
    const int64_t padded = zn_attention_padded(a->width);
    at_product p = {.left = a->q + first * padded,
                    .left_step = padded,
                    .depth = (a->width + 1) / 2 * 2,
                    .dst_step = KEYS};
    for (int64_t column = 0; column < count; column += 2 * LANES) {
        p.right = at_place(a->type, a->keys, padded, key + column, 0);
        p.ahead = at_place(a->type, a->keys, padded, key + column + PANEL, 0);
        p.dst = a->state->scores + first * KEYS + column;
        (a->type == ZN_F32 ? at_scores_f32 : at_scores_bf16)(p, a->queries - first);
    }
}

static void at_values(const zn_attention_args *a, int64_t first, int64_t key, int64_t count)
{
    const int64_t padded = zn_attention_padded(a->width), tokens = zn_attention_padded(a->tokens);
    at_product p = {.left = a->state->scores + first * KEYS,
                    .left_step = KEYS,
                    .depth = count,
                    .dst_step = padded,
                    .factor = a->state->factor + first};
    for (int64_t column = 0; column < a->width; column += 2 * LANES) {
        p.right = at_place(a->type, a->values, tokens, column, key);
        p.ahead = at_place(a->type, a->values, tokens, column + PANEL, key);
        p.dst = a->sums + first * padded + column;
        (a->type == ZN_F32 ? at_values_f32 : at_values_bf16)(p, a->queries - first);
    }
}

INLINE float at_exp(float x)
{
    float lanes[LANES];
    vec_store_f32(lanes, vec_exp(vec_set1(x)));
    return lanes[0];
}

// Makes p of the scores of one query, of which it sees the first `seen`.
static void at_softmax(const zn_attention_args *a, int64_t query, int64_t seen, int64_t count)
{
    zn_attention_state *s = a->state;
    float *scores = s->scores + query * KEYS;
    for (int64_t i = seen; i < count; i++) scores[i] = -INFINITY;
    vec most = vec_load_f32(scores);
    for (int64_t i = LANES; i < count; i += LANES) most = vec_max(most, vec_load_f32(scores + i));
    const float old = s->largest[query], block = at_largest(most) * a->scale;
    const float largest = block > old ? block : old;
    const vec scale = vec_set1(a->scale), less = vec_set1(-largest);
    vec total = vec_zero();
    for (int64_t i = 0; i < count; i += LANES) {
        const vec p = vec_exp(vec_fmadd(vec_load_f32(scores + i), scale, less));
        vec_store_f32(scores + i, p);
        total = vec_add(total, p);
    }
    s->factor[query] = at_exp(old - largest);
    s->total[query] = s->total[query] * s->factor[query] + at_total(total);
    s->largest[query] = largest;
}

// One block of keys. Queries before `first` see none of it.
static void at_keys(const zn_attention_args *a, int64_t key)
{
    const int64_t left = zn_attention_padded(a->tokens) - key, count = left < KEYS ? left : KEYS;
    int64_t first = 0;
    while (first < a->queries && zn_attention_seen(a, first) <= key) first++;
    at_scores(a, first, key, count);
    for (int64_t i = first; i < a->queries; i++) {
        const int64_t seen = zn_attention_seen(a, i) - key;
        at_softmax(a, i, seen < count ? seen : count, count);
    }
    at_values(a, first, key, count);
}

void VERSION(zn_attention)(const zn_attention_args *args, int64_t begin, int64_t end)
{
    const zn_attention_args a = *args; // which no store can be suspected to change
    const int64_t most = zn_attention_seen(&a, a.queries - 1), last = end < most ? end : most;
    if (begin == 0) at_begin(&a);
    for (int64_t key = begin; key < last; key += KEYS) at_keys(&a, key);
    if (begin < most && end >= most) at_finish(&a);
}
