// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax(scale q k^T) v of one head, for a block of queries, without storing more scores than a
// block of keys has. The keys pass by in blocks of ZN_ATTENTION_KEYS at fixed places; each query
// keeps the largest score so far (m), the total of e^(score - m), and the sum of e^(score - m) v,
// and scales the last two down where a block raises m:
//
//     m' = max(m, scale * largest of the block)       f = e^(m - m')
//     total = f total + sum of p,  sums = f sums + sum of p v,        p = e^(scale s - m')
//
// All in f32; in tiles, queries and p are rounded to bf16 before they are multiplied, and 2^x comes
// from a polynomial that is as exact as that needs. What a block adds to `sums` is added up by
// itself first: with one long sum over 65,536 keys the error would be ten times larger. A query's
// bits depend neither on the other queries of its block nor on how many there are. A query or key
// with an infinity or a NaN makes NaN in the results that see it, and a NaN among the values does
// too; scores of any finite size do not overflow.
//
// Keys and values are stored in panels of ZN_ATTENTION_PANEL columns, depth after depth:
//
//     keys     columns are keys, depth the channels of a head      [keys / 32][width][32]
//     values   columns are channels, depth the keys                [width / 32][keys][32]
//
// each rounded up to whole panels with zeros. In bf16 two depths lie beside each other
// ([depth / 2][32][2]), which is what tiles multiply, and what widens with one shift or mask.
#ifndef ZN_KERNEL_ATTENTION_H
#define ZN_KERNEL_ATTENTION_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

enum {
    ZN_ATTENTION_PANEL = 32,
    ZN_ATTENTION_KEYS = 256, // of a block: a multiple of PANEL
    ZN_ATTENTION_QUERIES =
        192, // of a block, at most: a multiple of what each version takes at once
    ZN_ATTENTION_WIDTH =
        1024 // of a head, at most; above half of it blocks have half as many queries
};

// Rounded up to whole panels.
static inline int64_t zn_attention_padded(int64_t count)
{
    return (count + ZN_ATTENTION_PANEL - 1) / ZN_ATTENTION_PANEL * ZN_ATTENTION_PANEL;
}

// Queries of a block, at most, for heads of this width.
static inline int64_t zn_attention_most_queries(int64_t width)
{
    return width > ZN_ATTENTION_WIDTH / 2 ? ZN_ATTENTION_QUERIES / 2 : ZN_ATTENTION_QUERIES;
}

// The place of an element in panels of `depths` rows.
static inline size_t zn_attention_place(zn_type type, int64_t depths, int64_t column, int64_t depth)
{
    const int64_t panel = column / ZN_ATTENTION_PANEL * ZN_ATTENTION_PANEL * depths;
    const int64_t lane = column % ZN_ATTENTION_PANEL;
    if (type != ZN_BF16) return (size_t)(panel + depth * ZN_ATTENTION_PANEL + lane);
    return (size_t)(panel + (depth / 2 * ZN_ATTENTION_PANEL + lane) * 2 + depth % 2);
}

// What is kept between the calls for one block of queries, and scratch.
typedef struct zn_attention_state {
    float scores[ZN_ATTENTION_QUERIES * ZN_ATTENTION_KEYS];
    uint16_t rounded[ZN_ATTENTION_QUERIES * (ZN_ATTENTION_WIDTH / 2)]; // q in bf16, in tiles
    float largest[ZN_ATTENTION_QUERIES], total[ZN_ATTENTION_QUERIES], factor[ZN_ATTENTION_QUERIES];
} zn_attention_state;

typedef struct zn_attention_args {
    zn_type type;    // of keys and values: f32 or bf16
    int64_t queries; // at most zn_attention_most_queries
    int64_t width;   // of the head
    int64_t tokens;  // keys that there are
    int64_t seen;    // causal: query i sees seen + i keys (at least 1, at most all)
    bool causal;
    float scale;               // of the scores, positive
    const float *q;            // [queries][padded width], zeros beyond the width
    const void *keys, *values; // panels
    float *sums;               // [queries][padded width]; after the last call the result
    zn_attention_state *state;
} zn_attention_args;

// Takes the keys [begin, end) into the sums. begin is a multiple of ZN_ATTENTION_KEYS and starts
// anew at 0. At the last key that any query sees, end >= that, the sums are divided by the totals.
typedef void zn_attention_fn(const zn_attention_args *args, int64_t begin, int64_t end);

// Keys that query `i` of the block sees.
static inline int64_t zn_attention_seen(const zn_attention_args *a, int64_t i)
{
    const int64_t seen = a->causal ? a->seen + i : a->tokens;
    return seen < 1 ? 1 : seen < a->tokens ? seen : a->tokens;
}

ZN_VERSIONS(zn_attention_fn, zn_attention);
zn_attention_fn zn_attention_amx; // where queries, keys and values are bf16

#endif
