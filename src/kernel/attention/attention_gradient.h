// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of attention, for one head, in f32. With s = scale q . k, p = softmax(s) and y =
// sum of p v:
//
//     dp = dy . v                     D = sum of p dp                 ds = scale p (dp - D)
//     dq = sum over keys of ds k      dk = sum over queries of ds q   dv = sum over queries of p dy
//
// A block of rows meets the others in blocks of ZN_ATTENTION_KEYS at fixed places, so that memory
// grows with the tokens and not with their square: rows of queries make dq, and the totals that p
// is made of; rows of keys make dk and dv from the scores the other way round. Every sum runs in
// the order of the tokens. The bits of a row depend neither on the other rows of its block nor on
// how many there are.
//
// "Panels" are those of attention.h in f32; of tokens: columns are tokens, depth the channels; of
// channels: columns are channels, depth the tokens. What fills up rows and panels is zero.
#ifndef ZN_KERNEL_ATTENTION_GRADIENT_H
#define ZN_KERNEL_ATTENTION_GRADIENT_H

#include "src/kernel/attention/attention.h"

enum { ZN_ATTENTION_GRADIENT_ROWS = 64 }; // of a block, at most

// Scratch of one block of rows.
typedef struct zn_attention_gradient_state {
    float scores[ZN_ATTENTION_GRADIENT_ROWS * ZN_ATTENTION_KEYS];
    float changes[ZN_ATTENTION_GRADIENT_ROWS * ZN_ATTENTION_KEYS]; // dp, then ds
    float ones[ZN_ATTENTION_GRADIENT_ROWS];
} zn_attention_gradient_state;

// p = e^(s - largest) share. Of what fills up the last panel of queries, all are zero.
typedef struct zn_attention_gradient_totals {
    float *largest, *share, *mean; // of each query: its largest s, 1 / sum of e^(s - largest), D
} zn_attention_gradient_totals;

typedef struct zn_attention_gradient_queries_args {
    int64_t rows;   // queries
    int64_t width;  // of the head
    int64_t tokens; // keys
    int64_t seen;   // causal: query i sees seen + i keys (at least 1, at most all)
    bool causal;
    float scale;
    const float *q, *dy;                 // [rows][padded width]
    const float *keys, *values;          // panels of tokens
    const float *keys_across;            // panels of channels; NULL: the totals alone are wanted
    zn_attention_gradient_totals totals; // written
    float *dq;                           // [rows][padded width], written
    zn_attention_gradient_state *state;
} zn_attention_gradient_queries_args;

typedef struct zn_attention_gradient_keys_args {
    int64_t rows;   // keys
    int64_t width;  // of the head
    int64_t tokens; // queries
    int64_t first;  // causal: key i is seen from query first + i on
    bool causal;
    float scale;
    const float *k, *v;                       // [rows][padded width]
    const float *queries, *dys;               // panels of tokens
    const float *queries_across, *dys_across; // panels of channels
    zn_attention_gradient_totals totals;      // of all queries, read
    float *dk, *dv;                           // [rows][padded width], added to
    zn_attention_gradient_state *state;
} zn_attention_gradient_keys_args;

typedef void zn_attention_gradient_queries_fn(const zn_attention_gradient_queries_args *args);
typedef void zn_attention_gradient_keys_fn(const zn_attention_gradient_keys_args *args);

typedef struct zn_attention_gradient {
    const char *id;
    zn_attention_gradient_queries_fn *queries;
    zn_attention_gradient_keys_fn *keys;
} zn_attention_gradient;
ZN_VERSIONS(extern const zn_attention_gradient, zn_attention_gradient);

#endif
