// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the two gradients of attention share: their inputs as plain f32 rows, and the probabilities of one
// query, made again from the scores. With s = scale q . k, p = softmax(s) and y = sum of p v:
//
//     dp = dy . v     D = sum of p dp     ds = p (dp - D)
//     dq = scale sum over keys of ds k    dk = scale sum over queries of ds q    dv = sum of p dy
//
// Sums are in double and in a fixed order. Clear before fast: networks that train here are small.
#ifndef ZN_OP_ATTENTION_ROWS_H
#define ZN_OP_ATTENTION_ROWS_H

#include "src/op/convert_parallel.h"
#include "src/op/token/attention_shape.h"

enum { ZN_ATTENTION_DY, ZN_ATTENTION_Q, ZN_ATTENTION_PACKED, ZN_ATTENTION_INPUTS };

// Where the widened inputs of a call lie in its scratch.
typedef struct zn_attention_rows {
    zn_attention_shape shape;
    zn_conversion widen[2]; // dy, q
    zn_type keys_type;
    float keys_scale;
    size_t keys_at; // floats: k and v, [2][key heads][keys][width], after dy and q
    size_t bytes;
    int64_t queries; // of a call
} zn_attention_rows;

// The inputs of a call in f32.
typedef struct zn_attention_view {
    const zn_attention_shape *shape;
    const float *dy, *q, *k, *v;
    int64_t token; // number of the first query
} zn_attention_view;

zenith_status zn_attention_rows_make(const zn_lowering_request *request, int64_t rows,
                                     zn_attention_rows *out, zn_error *err);
zn_attention_view zn_attention_rows_load(const zn_attention_rows *rows, const zn_call *call);

// The row of a head of query `i` of the call in dy or q, and of key `key` in k or v.
static inline const float *zn_attention_query(const zn_attention_view *view, const float *map,
                                              int64_t i, int64_t head)
{
    return map + (i * view->shape->heads + head) * view->shape->width;
}

static inline const float *zn_attention_key(const zn_attention_view *view, const float *keys,
                                            int64_t head, int64_t key)
{
    const zn_attention_shape *s = view->shape;
    return keys + (head / (s->heads / s->key_heads) * s->keys + key) * s->width;
}

// Of one head of one query: log of the sum of e^s, and D.
typedef struct zn_attention_totals {
    double log_total, mean;
} zn_attention_totals;

zn_attention_totals zn_attention_totals_of(const zn_attention_view *view, int64_t i, int64_t head);

// p and ds of one key.
typedef struct zn_attention_pair {
    double p, ds;
} zn_attention_pair;

zn_attention_pair zn_attention_pair_of(const zn_attention_view *view, int64_t i, int64_t head,
                                       int64_t key, zn_attention_totals totals);

// The same of whole tensors, for references: plain loops on real values.
zn_attention_totals zn_attention_totals_refer(const zn_attention_shape *s, const zn_tensor *inputs,
                                              int64_t query, int64_t head);
zn_attention_pair zn_attention_pair_refer(const zn_attention_shape *s, const zn_tensor *inputs,
                                          int64_t query, int64_t head, int64_t key,
                                          zn_attention_totals totals);
zenith_status zn_attention_gradient_check(const zn_node *node, zn_error *err);
double zn_attention_gradient_flops(const zn_node *node);

// The samples of both gradients.
extern const zn_op_sample zn_attention_gradient_samples[3];

#endif
