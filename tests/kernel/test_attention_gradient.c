// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of attention: every version against plain loops in double, at sizes around its
// blocks, and rows that do not depend on the other rows of their block. With --bench: the rate of
// each version.
#include "src/base/memory.h"
#include "src/kernel/attention/attention_gradient.h"
#include "tests/kernel/fenced.h"
#include "tests/kernel/kernels.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { DY, Q, K, V, INPUTS, DQ = INPUTS, DK, DV, MATRICES };
enum { MOST = ZN_ATTENTION_GRADIENT_ROWS, KEYS = ZN_ATTENTION_KEYS };

// One head: [tokens][padded width], and panels of tokens and of channels.
typedef struct subject {
    int64_t queries, keys, width, padded;
    bool causal;
    float scale;
    float *rows[MATRICES], *panels[INPUTS], *across[INPUTS];
    float *totals[3];
    zn_attention_gradient_state *state;
    double *want[MATRICES], *sizes[MATRICES]; // [tokens][width]
} subject;

static int64_t tokens_of(const subject *s, int matrix)
{
    return matrix == DY || matrix == Q || matrix == DQ ? s->queries : s->keys;
}

static void *zeros(int64_t count, size_t size)
{
    void *made = zn_alloc_zero((size_t)count * size);
    assert_non_null(made);
    return made;
}

static subject make(int64_t queries, int64_t keys, int64_t width, bool causal, zn_random *random)
{
    subject s = {.queries = queries, .keys = keys, .width = width, .causal = causal};
    s.padded = zn_attention_padded(width);
    s.scale = 1 / sqrtf((float)width);
    s.state = zeros(1, sizeof *s.state);
    for (int i = 0; i < 3; i++) s.totals[i] = zeros(zn_attention_padded(queries), sizeof(float));
    for (int m = 0; m < MATRICES; m++) {
        const int64_t tokens = tokens_of(&s, m), padded = zn_attention_padded(tokens);
        s.rows[m] = zeros(padded * s.padded, sizeof(float));
        s.want[m] = zeros(tokens * width, sizeof(double));
        s.sizes[m] = zeros(tokens * width, sizeof(double));
        if (m >= INPUTS) continue;
        s.panels[m] = zeros(padded * s.padded, sizeof(float));
        s.across[m] = zeros(padded * s.padded, sizeof(float));
        for (int64_t t = 0; t < tokens; t++) {
            float *row = s.rows[m] + t * s.padded;
            fill_normal(row, (size_t)width, random);
            for (int64_t c = 0; c < width; c++) {
                s.panels[m][zn_attention_place(ZN_F32, s.padded, t, c)] = row[c];
                s.across[m][zn_attention_place(ZN_F32, padded, c, t)] = row[c];
            }
        }
    }
    return s;
}

static void drop(subject *s)
{
    for (int m = 0; m < MATRICES; m++) {
        zn_free(s->rows[m]);
        zn_free(s->want[m]);
        zn_free(s->sizes[m]);
    }
    for (int m = 0; m < INPUTS; m++) {
        zn_free(s->panels[m]);
        zn_free(s->across[m]);
    }
    for (int i = 0; i < 3; i++) zn_free(s->totals[i]);
    zn_free(s->state);
}

static double dot(const subject *s, int left, int64_t i, int right, int64_t j)
{
    double sum = 0;
    for (int64_t c = 0; c < s->width; c++)
        sum += (double)s->rows[left][i * s->padded + c] * (double)s->rows[right][j * s->padded + c];
    return sum;
}

// want[to][i] += factor * rows[from][j], and the sizes of what is added: rounding errors are a part
// of those.
static void add(subject *s, int to, int64_t i, double factor, double size, int from, int64_t j)
{
    for (int64_t c = 0; c < s->width; c++) {
        const double value = (double)s->rows[from][j * s->padded + c];
        s->want[to][i * s->width + c] += factor * value;
        s->sizes[to][i * s->width + c] += size * fabs(value);
    }
}

static void state_query(subject *s, int64_t query)
{
    double p[3 * KEYS], largest = -INFINITY, total = 0, mean = 0;
    const int64_t seen = s->causal ? query + s->keys - s->queries + 1 : s->keys;
    const double scale = (double)s->scale;
    for (int64_t key = 0; key < seen; key++) {
        p[key] = scale * dot(s, Q, query, K, key);
        largest = fmax(largest, p[key]);
    }
    for (int64_t key = 0; key < seen; key++) total += p[key] = exp(p[key] - largest);
    for (int64_t key = 0; key < seen; key++) mean += (p[key] /= total) * dot(s, DY, query, V, key);
    for (int64_t key = 0; key < seen; key++) {
        const double dp = dot(s, DY, query, V, key), ds = scale * p[key] * (dp - mean);
        const double size = scale * p[key] * (fabs(dp) + fabs(mean));
        add(s, DQ, query, ds, size, K, key);
        add(s, DK, key, ds, size, Q, query);
        add(s, DV, key, p[key], p[key], DY, query);
    }
}

static zn_attention_gradient_queries_args queries_args(const subject *s, int64_t first,
                                                       int64_t count)
{
    const int64_t at = first * s->padded;
    return (zn_attention_gradient_queries_args){
        .rows = count,
        .width = s->width,
        .tokens = s->keys,
        .seen = first + s->keys - s->queries + 1,
        .causal = s->causal,
        .scale = s->scale,
        .q = s->rows[Q] + at,
        .dy = s->rows[DY] + at,
        .keys = s->panels[K],
        .values = s->panels[V],
        .keys_across = s->across[K],
        .totals = {s->totals[0] + first, s->totals[1] + first, s->totals[2] + first},
        .dq = s->rows[DQ] + at,
        .state = s->state};
}

static zn_attention_gradient_keys_args keys_args(const subject *s, int64_t first, int64_t count)
{
    const int64_t at = first * s->padded;
    return (zn_attention_gradient_keys_args){.rows = count,
                                             .width = s->width,
                                             .tokens = s->queries,
                                             .first = first - (s->keys - s->queries),
                                             .causal = s->causal,
                                             .scale = s->scale,
                                             .k = s->rows[K] + at,
                                             .v = s->rows[V] + at,
                                             .queries = s->panels[Q],
                                             .dys = s->panels[DY],
                                             .queries_across = s->across[Q],
                                             .dys_across = s->across[DY],
                                             .totals = {s->totals[0], s->totals[1], s->totals[2]},
                                             .dk = s->rows[DK] + at,
                                             .dv = s->rows[DV] + at,
                                             .state = s->state};
}

// All queries, then all keys, in blocks of at most `step`.
static void run(const zn_attention_gradient *v, subject *s, int64_t step)
{
    for (int m = DK; m <= DV; m++)
        memset(s->rows[m], 0, (size_t)(s->keys * s->padded) * sizeof(float));
    for (int64_t i = 0; i < s->queries; i += step) {
        const int64_t left = s->queries - i;
        const zn_attention_gradient_queries_args a = queries_args(s, i, left < step ? left : step);
        v->queries(&a);
    }
    for (int64_t i = 0; i < s->keys; i += step) {
        const int64_t left = s->keys - i;
        const zn_attention_gradient_keys_args a = keys_args(s, i, left < step ? left : step);
        v->keys(&a);
    }
}

static double error_of(const subject *s, int matrix)
{
    double error = 0, length = 0;
    for (int64_t i = 0; i < tokens_of(s, matrix) * s->width; i++) {
        const int64_t at = i / s->width * s->padded + i % s->width;
        error += pow((double)s->rows[matrix][at] - s->want[matrix][i], 2);
        length += s->sizes[matrix][i] * s->sizes[matrix][i];
    }
    return sqrt(error / length);
}

ZN_TEST(versions_are_near_the_double_result)
{
    static const int64_t sizes[][3] = {
        {1, 1, 1},     {5, 3, 8},          {13, 32, 33},      {29, 33, 40},
        {64, 64, 128}, {65, KEYS - 1, 20}, {3, KEYS + 1, 64}, {KEYS + 40, KEYS + 40, 24}};
    zn_random random = {.seed = 15};
    for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
        const int64_t *size = sizes[i / 2];
        if (i % 2 && size[0] > size[1]) continue; // the first causal query would see nothing
        subject s = make(size[0], size[1], size[2], i % 2, &random);
        for (int64_t query = 0; query < s.queries; query++) state_query(&s, query);
        FOR_EACH_SET(set)
        {
            run(set->kernels.attention_gradient, &s, MOST);
            for (int m = DQ; m <= DV; m++)
                if (!(error_of(&s, m) <= 1e-6))
                    fail_msg("%s: %d queries, %d keys of %d%s: error %.3g of matrix %d", set->name,
                             (int)s.queries, (int)s.keys, (int)s.width, s.causal ? ", causal" : "",
                             error_of(&s, m), m);
        }
        drop(&s);
    }
}

ZN_TEST(rows_do_not_depend_on_each_other)
{
    zn_random random = {.seed = 16};
    for (int causal = 0; causal < 2; causal++) {
        subject s = make(71, KEYS + 17, 40, causal, &random);
        const size_t bytes = (size_t)(s.keys * s.padded) * sizeof(float);
        float *kept = zeros(3 * s.keys * s.padded, sizeof(float));
        FOR_EACH_SET(set)
        {
            run(set->kernels.attention_gradient, &s, MOST);
            for (int m = DQ; m <= DV; m++)
                memcpy(kept + (m - DQ) * s.keys * s.padded, s.rows[m],
                       m == DQ ? (size_t)(s.queries * s.padded) * sizeof(float) : bytes);
            run(set->kernels.attention_gradient, &s, 5);
            for (int m = DQ; m <= DV; m++)
                assert_memory_equal(kept + (m - DQ) * s.keys * s.padded, s.rows[m],
                                    m == DQ ? (size_t)(s.queries * s.padded) * sizeof(float)
                                            : bytes);
        }
        zn_free(kept);
        drop(&s);
    }
}

static void bench(void)
{
    static const int64_t cases[][2] = {{256, 256}, {1024, 64}};
    zn_random random = {.seed = 1};
    FOR_EACH_SET(set)
    {
        for (size_t i = 0; i < COUNT(cases); i++) {
            const int64_t tokens = cases[i][0], width = cases[i][1];
            subject s = make(tokens, tokens, width, false, &random);
            bench_clock clock = {0};
            while (bench_again(&clock)) run(set->kernels.attention_gradient, &s, MOST);
            const double products = tokens > KEYS ? 9 : 7;
            bench_result(&clock, set->name, 2 * products * (double)(tokens * tokens * width),
                         "GFLOP/s", "%d tokens of %d", (int)tokens, (int)width);
            drop(&s);
        }
    }
}

KERNEL_GROUP(attention_gradient, bench)
