// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the operators of attention know of each other: attributes of their nodes, and the packed
// keys and values, [2, key heads, padded keys * padded width], in the panels of
// kernel/attention/attention.h. Element 0 of the first dimension is the keys, 1 the values.
// Gradients with respect to that value have its elements in the order that f32 has.
#ifndef ZN_OP_ATTENTION_SHAPE_H
#define ZN_OP_ATTENTION_SHAPE_H

#include "src/kernel/attention/attention.h"
#include "src/op/token/token_ops.h"

enum { ZN_ATTENTION_TOKENS = 1 << 24 }; // most keys

typedef struct zn_attention_keys_attributes {
    int key_heads;
    bool values;           // of attention_keys_gradient: of the values, not of the keys
    int64_t rows, columns; // of attention_keys_gradient: the map's
    int64_t width;         // of attention_keys_gradient: of a head
    bool apart;            // each column by itself (zn_attention_attributes.columns)
} zn_attention_keys_attributes;

typedef struct zn_attention_node_attributes {
    zn_attention_attributes of;
    int64_t keys; // how many there are; the packed value has whole panels
} zn_attention_node_attributes;

// All sizes of an attention. Columns that are sequences by themselves lie beside each other in a
// row as heads do, and are heads here.
typedef struct zn_attention_shape {
    int64_t queries, keys, heads, key_heads, width;
    int64_t padded_keys, padded_width;
    bool causal;
    double scale; // of scores; 1 / sqrt(width) where the attributes say 0
} zn_attention_shape;

// Of a node with zn_attention_node_attributes. q: the input that is the queries; keys: the packed
// value.
zn_attention_shape zn_attention_shape_of(const zn_node *node, int q);
zenith_status zn_attention_check(const zn_node *node, int q, int keys, zn_error *err);

// Elements of the packed value: of a head's keys, or of its values.
static inline size_t zn_attention_head(const zn_attention_shape *s)
{
    return (size_t)(s->padded_keys * s->padded_width);
}

// Keys that query `token` sees.
static inline int64_t zn_attention_visible(const zn_attention_shape *s, int64_t token)
{
    const int64_t seen = s->causal ? token + s->keys - s->queries + 1 : s->keys;
    return seen < 1 ? 1 : seen < s->keys ? seen : s->keys;
}

// The place of a channel of a key (or of a value) of the key head in the packed value.
size_t zn_attention_index(const zn_attention_shape *s, zn_type type, bool value, int64_t key_head,
                          int64_t key, int64_t channel);

// Channels from `channel` on, as many as lie evenly apart: the i-th at `at` + i * `step`. Of f32.
typedef struct zn_attention_run {
    size_t at, step;
    int64_t count;
} zn_attention_run;
zn_attention_run zn_attention_run_at(const zn_attention_shape *s, bool value, int64_t key_head,
                                     int64_t key, int64_t channel);

#endif
