// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// All five products of attention_gradient.h are those of attention_product.h.
#include "src/kernel/attention/attention_gradient.h"

#include "src/kernel/attention/attention_product.h"
#include "src/kernel/pointwise/vector_exp.h"
#include "src/kernel/vector.h"

AT_PRODUCT(ag_set, ZN_F32, false)
AT_PRODUCT(ag_add, ZN_F32, true)

// dst[row][0 .. count) = rows [.][padded width] times the tokens [token, token + count) of panels
// of tokens.
static void ag_scores(const float *rows, int64_t n, int64_t width, const float *panels,
                      int64_t token, int64_t count, float *dst)
{
    const int64_t padded = zn_attention_padded(width);
    at_product p = {
        .left = rows, .left_step = padded, .depth = (width + 1) / 2 * 2, .dst_step = KEYS};
    for (int64_t column = 0; column < count; column += 2 * LANES) {
        p.right = at_place(ZN_F32, panels, padded, token + column, 0);
        p.ahead = at_place(ZN_F32, panels, padded, token + column + PANEL, 0);
        p.dst = dst + column;
        ag_set(p, n);
    }
}

// dst [.][padded width] += left[row][0 .. count) times the tokens [token, token + count) of panels
// of channels.
static void ag_sums(const float *left, int64_t n, int64_t width, const float *panels,
                    int64_t tokens, int64_t token, int64_t count, const float *ones, float *dst)
{
    const int64_t padded = zn_attention_padded(width), depths = zn_attention_padded(tokens);
    at_product p = {
        .left = left, .left_step = KEYS, .depth = count, .dst_step = padded, .factor = ones};
    for (int64_t column = 0; column < width; column += 2 * LANES) {
        p.right = at_place(ZN_F32, panels, depths, column, token);
        p.ahead = at_place(ZN_F32, panels, depths, column + PANEL, token);
        p.dst = dst + column;
        ag_add(p, n);
    }
}

static int64_t ag_count(int64_t tokens, int64_t token)
{
    const int64_t left = zn_attention_padded(tokens) - token;
    return left < KEYS ? left : KEYS;
}

// --- rows of queries -----------------------------------------------------------------------------

static int64_t ag_seen(const zn_attention_gradient_queries_args *a, int64_t row)
{
    const int64_t seen = a->causal ? a->seen + row : a->tokens;
    return seen < 1 ? 1 : seen < a->tokens ? seen : a->tokens;
}

INLINE float ag_exp(float x)
{
    float lanes[LANES];
    vec_store_f32(lanes, vec_exp(vec_set1(x)));
    return lanes[0];
}

// Takes the keys from `key` on into the totals of one query: share is the sum, mean that of p dp,
// both of which are scaled down where a score is larger.
static void ag_total(const zn_attention_gradient_queries_args *a, int64_t row, int64_t key,
                     int64_t count)
{
    float *scores = a->state->scores + row * KEYS;
    const float *changes = a->state->changes + row * KEYS;
    const int64_t seen = ag_seen(a, row) - key;
    for (int64_t i = seen < 0 ? 0 : seen; i < count; i++) scores[i] = -INFINITY;
    if (seen <= 0) return;
    vec most = vec_load_f32(scores);
    for (int64_t i = LANES; i < count; i += LANES) most = vec_max(most, vec_load_f32(scores + i));
    const float old = a->totals.largest[row], block = at_largest(most) * a->scale;
    const float largest = block > old ? block : old, down = ag_exp(old - largest);
    const vec scale = vec_set1(a->scale), less = vec_set1(-largest);
    vec total = vec_zero(), sum = vec_zero();
    for (int64_t i = 0; i < count; i += LANES) {
        const vec p = vec_exp(vec_fmadd(vec_load_f32(scores + i), scale, less));
        total = vec_add(total, p);
        sum = vec_fmadd(p, vec_load_f32(changes + i), sum);
    }
    a->totals.share[row] = a->totals.share[row] * down + at_total(total);
    a->totals.mean[row] = a->totals.mean[row] * down + at_total(sum);
    a->totals.largest[row] = largest;
}

static void ag_pairs(const zn_attention_gradient_queries_args *a, int64_t key, int64_t count)
{
    ag_scores(a->q, a->rows, a->width, a->keys, key, count, a->state->scores);
    ag_scores(a->dy, a->rows, a->width, a->values, key, count, a->state->changes);
}

static void ag_totals(const zn_attention_gradient_queries_args *a, int64_t last)
{
    for (int64_t i = 0; i < a->rows; i++) {
        a->totals.largest[i] = -INFINITY;
        a->totals.share[i] = a->totals.mean[i] = 0;
    }
    for (int64_t key = 0; key < last; key += KEYS) {
        const int64_t count = ag_count(a->tokens, key);
        ag_pairs(a, key, count);
        for (int64_t i = 0; i < a->rows; i++) ag_total(a, i, key, count);
    }
    for (int64_t i = 0; i < a->rows; i++) {
        a->totals.mean[i] /= a->totals.share[i];
        a->totals.share[i] = 1 / a->totals.share[i];
    }
}

// Makes ds of dp, of one query; scores of keys that it does not see become ds of 0.
static void ag_changes(const zn_attention_gradient_queries_args *a, int64_t row, int64_t key,
                       int64_t count)
{
    float *scores = a->state->scores + row * KEYS, *changes = a->state->changes + row * KEYS;
    const int64_t seen = ag_seen(a, row) - key;
    const vec scale = vec_set1(a->scale), less = vec_set1(-a->totals.largest[row]);
    const vec share = vec_set1(a->totals.share[row] * a->scale);
    const vec mean = vec_set1(a->totals.mean[row]);
    for (int64_t i = seen < 0 ? 0 : seen; i < count; i++) scores[i] = -INFINITY;
    for (int64_t i = 0; i < count; i += LANES) {
        const vec p = vec_exp(vec_fmadd(vec_load_f32(scores + i), scale, less));
        const vec change = vec_sub(vec_load_f32(changes + i), mean);
        vec_store_f32(changes + i, vec_mul(vec_mul(p, share), change));
    }
}

static void attention_gradient_queries(const zn_attention_gradient_queries_args *args)
{
    const zn_attention_gradient_queries_args a = *args; // which no store can be suspected to change
    const int64_t last = ag_seen(&a, a.rows - 1);
    ag_totals(&a, last);
    if (!a.keys_across) return;
    memset(a.dq, 0, (size_t)(a.rows * zn_attention_padded(a.width)) * sizeof *a.dq);
    for (int64_t i = 0; i < a.rows; i++) a.state->ones[i] = 1;
    for (int64_t key = 0; key < last; key += KEYS) {
        const int64_t count = ag_count(a.tokens, key);
        if (last > KEYS) ag_pairs(&a, key, count); // one block is still there
        for (int64_t i = 0; i < a.rows; i++) ag_changes(&a, i, key, count);
        ag_sums(a.state->changes, a.rows, a.width, a.keys_across, a.tokens, key, count,
                a.state->ones, a.dq);
    }
}

// --- rows of keys --------------------------------------------------------------------------------

// Makes p of scores and ds of dp, of one key and the queries from `query` on.
static void ag_turned(const zn_attention_gradient_keys_args *a, int64_t row, int64_t query,
                      int64_t count)
{
    float *scores = a->state->scores + row * KEYS, *changes = a->state->changes + row * KEYS;
    const int64_t first = a->causal ? a->first + row - query : 0;
    const zn_attention_gradient_totals *t = &a->totals;
    const vec scale = vec_set1(a->scale);
    for (int64_t i = 0; i < count && i < first; i++) scores[i] = -INFINITY;
    for (int64_t i = 0; i < count; i += LANES) {
        const vec largest = vec_load_f32(t->largest + query + i);
        const vec s = vec_sub(vec_mul(vec_load_f32(scores + i), scale), largest);
        const vec p = vec_mul(vec_exp(s), vec_load_f32(t->share + query + i));
        const vec change = vec_sub(vec_load_f32(changes + i), vec_load_f32(t->mean + query + i));
        vec_store_f32(scores + i, p);
        vec_store_f32(changes + i, vec_mul(vec_mul(p, scale), change));
    }
}

static void attention_gradient_keys(const zn_attention_gradient_keys_args *args)
{
    const zn_attention_gradient_keys_args a = *args;
    zn_attention_gradient_state *s = a.state;
    const int64_t first = a.causal && a.first > 0 ? a.first / KEYS * KEYS : 0;
    for (int64_t i = 0; i < a.rows; i++) s->ones[i] = 1;
    for (int64_t query = first; query < a.tokens; query += KEYS) {
        const int64_t count = ag_count(a.tokens, query);
        ag_scores(a.k, a.rows, a.width, a.queries, query, count, s->scores);
        ag_scores(a.v, a.rows, a.width, a.dys, query, count, s->changes);
        for (int64_t i = 0; i < a.rows; i++) ag_turned(&a, i, query, count);
        ag_sums(s->scores, a.rows, a.width, a.dys_across, a.tokens, query, count, s->ones, a.dv);
        ag_sums(s->changes, a.rows, a.width, a.queries_across, a.tokens, query, count, s->ones,
                a.dk);
    }
}

const zn_attention_gradient VERSION(zn_attention_gradient) = {
    .id = "kernel:" VERSION_NAME,
    .queries = attention_gradient_queries,
    .keys = attention_gradient_keys,
};
