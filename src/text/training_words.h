// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of texts, each once, in the order of their bytes, and how often each occurs: what a
// vocabulary is trained on. Added tokens are cut out, the rest is normalised and split, as the
// tokenizer does it. Equal words are joined from time to time, so that memory goes with the
// different words, not with the texts.
#ifndef ZN_TEXT_TRAINING_WORDS_H
#define ZN_TEXT_TRAINING_WORDS_H

#include "src/text/tokenizer_train.h"

typedef struct zn_training_word {
    size_t offset; // in bytes
    uint32_t size;
    uint64_t number;
} zn_training_word;

// Zeroed at birth.
typedef struct zn_training_words {
    uint8_t *bytes; // of all words
    size_t used, bytes_room;
    zn_training_word *words;
    size_t count, room;
} zn_training_words;

zenith_status zn_training_words_collect(zn_training_words *words,
                                        const zn_tokenizer_training *training, zn_error *err);
void zn_training_words_free(zn_training_words *words);

// ZENITH_CANCELLED where the caller has asked for it.
zenith_status zn_training_go_on(const zn_tokenizer_training *training, zn_error *err);

#endif
