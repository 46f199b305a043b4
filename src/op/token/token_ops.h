// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What transformers are made of. Three kinds of values:
//
//   sequence   a map [1, tokens, 1, channels]: a row is a token, so rows, calls and types work as
//              for pictures. Every operator here also takes a picture [1, h, w, c]: its pixels are
//              tokens.
//   vector     [channels], f32, one for a whole run (a timestep's embedding, a condition). It is
//              not a map: it is complete before anything reads it, in planes and in bands.
//   scalar     one f32 that the caller sets for each run.
#ifndef ZN_OP_TOKEN_OPS_H
#define ZN_OP_TOKEN_OPS_H

#include "src/graph/op.h"

// int8: products in 8 bits, with a scale for each token (found as it is read) and one for each row
// of the weight. The result has its usual type. turned: by the weight the other way around, x
// weight, which is the gradient.
typedef struct zn_linear_attributes {
    bool int8;
    bool turned;
} zn_linear_attributes;

// heads share keys and values in groups of heads / key_heads. scale 0: 1 / sqrt(head width).
// causal: query i sees the keys up to i + keys - queries.
// columns: each column of the maps is a sequence by itself, whose tokens are its rows.
typedef struct zn_attention_attributes {
    int heads, key_heads;
    bool causal;
    float scale;
    bool columns;
} zn_attention_attributes;

typedef enum zn_rope_pairs {
    ZN_ROPE_INTERLEAVED = 0, // channels 2i and 2i + 1 of a head turn together
    ZN_ROPE_HALVES           // channels i and i + width / 2
} zn_rope_pairs;

// back: turns by the opposite angle, which is the gradient.
typedef struct zn_rope_attributes {
    zn_rope_pairs pairs;
    int heads;
    bool back;
} zn_rope_attributes;

// groups: each group of channels is normed by itself (the heads of queries and keys); the gain is
// then of one group. 1: all channels of a token together.
typedef struct zn_token_norm_attributes {
    int groups;
    float epsilon;
} zn_token_norm_attributes;

typedef enum zn_activation {
    ZN_ACTIVATION_SILU = 0,  // x / (1 + exp(-x))
    ZN_ACTIVATION_GELU,      // x * Phi(x), by erf
    ZN_ACTIVATION_GELU_TANH, // its approximation by tanh
    ZN_ACTIVATION_TANH,
    ZN_ACTIVATION_LOGISTIC, // 1 / (1 + exp(-x))
    ZN_ACTIVATION_NONE,     // x: gated is then a product
    ZN_ACTIVATION_COUNT
} zn_activation;

typedef struct zn_activation_attributes {
    zn_activation kind;
} zn_activation_attributes;

// plain: x * scale + shift, which is what the gradient of gated_add needs.
typedef struct zn_modulate_attributes {
    bool plain;
} zn_modulate_attributes;

// What the gradient of embed needs to know of the table.
typedef struct zn_embed_gradient_attributes {
    int64_t rows;
} zn_embed_gradient_attributes;

typedef struct zn_token_join_attributes {
    int64_t tokens; // of the result
    bool filled;    // the last input is the filler
} zn_token_join_attributes;

typedef struct zn_token_slice_attributes {
    int64_t first, height, width;
} zn_token_slice_attributes;

// cos(s f_i), i < size / 2, then sin(s f_i), where f_i = exp(-ln(period) i / (size / 2)), all in
// f32.
typedef struct zn_time_features_attributes {
    int64_t size;
    float period;
} zn_time_features_attributes;

// y = x weight^T + bias: x a map or a vector, over its channels; weight [out, in], bias [out] or
// NULL.
zn_node *zn_linear(zn_graph *graph, const char *name, zn_node *x, zn_node *weight, zn_node *bias);
// y = x weight + bias: weight [in, out].
zn_node *zn_linear_turned(zn_graph *graph, const char *name, zn_node *x, zn_node *weight,
                          zn_node *bias);

// softmax(scale q k^T) v for each head, without storing the scores: working memory grows with the
// tokens, not with their square. q [.., heads * width]; k and v [.., key_heads * width], both of as
// many tokens. Result like q. Keys and values go through a node "name.keys" that is a barrier.
zn_node *zn_attention(zn_graph *graph, const char *name, zn_node *q, zn_node *k, zn_node *v,
                      zn_attention_attributes attributes);

// Turns the pairs of each head of x by the angles of its token. table: a sequence f32 [1, tokens,
// 1, width of a head], the cosines of its pairs and then the sines.
zn_node *zn_rope(zn_graph *graph, const char *name, zn_node *x, zn_node *table,
                 zn_rope_attributes attributes);

// x / sqrt(mean(x^2) + epsilon) * gain, over the channels of a group; gain [channels / groups] or
// NULL.
zn_node *zn_rms_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gain,
                     zn_token_norm_attributes attributes);
// (x - mean) / sqrt(variance + epsilon) * gain + bias, likewise; gain and bias may be NULL.
zn_node *zn_layer_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gain, zn_node *bias,
                       zn_token_norm_attributes attributes);

zn_node *zn_activate(zn_graph *graph, const char *name, zn_node *x,
                     zn_activation kind); // map or vector
// activation(a) * b: equal shapes, maps or vectors.
zn_node *zn_gated(zn_graph *graph, const char *name, zn_node *a, zn_node *b, zn_activation kind);
// x * (1 + scale) + shift: scale and shift are vectors of x's channels, or of those of all its
// columns, one after the other: each column has its own then. shift may be NULL.
zn_node *zn_modulate(zn_graph *graph, const char *name, zn_node *x, zn_node *scale, zn_node *shift);
// x * factor + offset, as vectors of zn_modulate are; offset may be NULL.
zn_node *zn_times_vector(zn_graph *graph, const char *name, zn_node *x, zn_node *factor,
                         zn_node *offset);
// x + gate * y: gate a vector of their channels, or of those of all columns.
zn_node *zn_gated_add(zn_graph *graph, const char *name, zn_node *x, zn_node *y, zn_node *gate);

// Row ids[i] of table [rows, channels] for each token. ids: a sequence [1, tokens, 1, 1] of whole
// numbers below 2^24, read as they are stored; one outside the table gives zeros.
zn_node *zn_embed(zn_graph *graph, const char *name, zn_node *ids, zn_node *table);

// The tokens of 1 .. 4 maps, one after the other, as a sequence of `tokens`: as many as they have,
// or more where there is `filler`, a vector of their channels that each further token is. It may be
// NULL.
zn_node *zn_token_join(zn_graph *graph, const char *name, zn_node *const *maps, int count,
                       zn_node *filler, int64_t tokens);
// height x width tokens of x from `first` on, as a map.
zn_node *zn_token_slice(zn_graph *graph, const char *name, zn_node *x,
                        zn_token_slice_attributes attributes);

// The features of a timestep: a vector; or of a sequence [1, n, 1, 1] of timesteps: a sequence.
zn_node *zn_time_features(zn_graph *graph, const char *name, zn_node *time,
                          zn_time_features_attributes attributes);

#endif
