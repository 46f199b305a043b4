// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tokens of a byte-level BPE by number and by content, and the merges by pair.
//
//     tokens[id] -> offset, size ──> bytes   one block, token after token
//     slots[hash of content]  -> id + 1
//     merges[hash of a pair]  -> left, right, id of the joined token, rank
//
// 1. A token's content is the bytes that it stands for; it is never empty and at most 1024 bytes.
//    A literal token is one that the vocabulary writes outside the byte alphabet: no word makes it.
// 2. No two tokens have the same content, no two merges the same pair or the same rank.
// 3. A merge's token is the bytes of its left and right, one after the other, so a merge makes a
//    longer token and merging ends.
// The hashes begin with a number that differs from run to run, so that no file can be made to
// collide.
#ifndef ZN_TEXT_VOCABULARY_H
#define ZN_TEXT_VOCABULARY_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZN_VOCABULARY_IDS_MOST   ((int64_t)1 << 20)
#define ZN_VOCABULARY_TOKEN_MOST 1024 // bytes

typedef struct zn_token {
    uint32_t offset, size; // in bytes; size 0: there is no token of this id
    bool literal;
    bool special; // control tokens, which decoding may leave out
} zn_token;

typedef struct zn_merge {
    int32_t left, right;
    int32_t id;    // what they become
    uint32_t rank; // smaller first; UINT32_MAX: the slot is empty
} zn_merge;

typedef struct zn_vocabulary {
    zn_token *tokens;
    size_t count, tokens_room; // ids 0 .. count-1, of which some may have no token
    uint8_t *bytes;
    size_t used, bytes_room;
    int32_t *slots; // id + 1, or 0
    size_t slots_mask;
    zn_merge *merges;
    size_t merges_mask, merge_count, merges_most;
    uint64_t seed;
    size_t tokens_kept, tokens_most;
} zn_vocabulary;

// Room for so many tokens and merges, which is all there will be.
zenith_status zn_vocabulary_init(zn_vocabulary *vocabulary, size_t tokens, size_t merges,
                                 zn_error *err);
void zn_vocabulary_free(zn_vocabulary *vocabulary); // zeroes it; a zeroed one is fine

// ZENITH_BAD_FILE for an empty or too long content, an id that is taken or out of range, or a
// content that another id has.
zenith_status zn_vocabulary_add(zn_vocabulary *vocabulary, const void *bytes, size_t size,
                                bool literal, int64_t id, zn_error *err);
// -1 where there is none.
int32_t zn_vocabulary_find(const zn_vocabulary *vocabulary, const void *bytes, size_t size,
                           bool literal);
// The token of an id, NULL where there is none.
const zn_token *zn_vocabulary_get(const zn_vocabulary *vocabulary, int64_t id);

// ZENITH_BAD_FILE where the joined token is missing or the pair is there already.
zenith_status zn_vocabulary_add_merge(zn_vocabulary *vocabulary, int32_t left, int32_t right,
                                      uint32_t rank, zn_error *err);
const zn_merge *zn_vocabulary_merge(const zn_vocabulary *vocabulary, int32_t left, int32_t right);

#endif
