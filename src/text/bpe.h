// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Byte-pair encoding of one word: its bytes are symbols; the pair with the smallest rank is merged,
// the leftmost of equal ones first, until no pair is a merge. Pairs wait in a heap, so n bytes take
// n log n steps, whatever the word.
#ifndef ZN_TEXT_BPE_H
#define ZN_TEXT_BPE_H

#include "src/text/vocabulary.h"

// What encoding works in and writes to; zeroed at birth, used again from word to word.
typedef struct zn_bpe {
    int32_t *ids; // of all words so far
    size_t count, ids_room;
    struct zn_symbol *symbols;
    size_t symbols_room;
    uint64_t *heap; // rank << 32 | place of the left symbol
    size_t waiting, heap_room;
} zn_bpe;

// Appends the ids of a word. `byte_ids` are the tokens of single bytes, all of them there.
zenith_status zn_bpe_word(zn_bpe *bpe, const zn_vocabulary *vocabulary, const int32_t byte_ids[256],
                          const uint8_t *word, size_t size, zn_error *err);
zenith_status zn_bpe_append(zn_bpe *bpe, int32_t id, zn_error *err);
void zn_bpe_free(zn_bpe *bpe); // with the ids; a zeroed one is fine

#endif
