// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the vocabulary of a byte-level BPE from texts, such as the captions of a training set: the
// most frequent pair of neighbours within words becomes a token, again and again. Texts are
// normalised and split as the tokenizer does it. Of pairs that are equally frequent the one with
// the smaller left id comes first, then that with the smaller right id; bytes are ids 0 to 255. The
// result is a tokenizer.json, which zn_tokenizer_parse_json and the Hugging Face library read; its
// bytes depend on the texts alone.
#ifndef ZN_TEXT_TOKENIZER_TRAIN_H
#define ZN_TEXT_TOKENIZER_TRAIN_H

#include "src/text/tokenizer.h"

#include <stdatomic.h>

typedef struct zn_tokenizer_training {
    const zn_bytes *texts; // UTF-8
    size_t text_count;
    size_t tokens;            // of the vocabulary, with the 256 bytes and without added tokens
    uint64_t least;           // how often a pair must occur to become a token; 0 is 2
    const char *const *added; // special tokens, which get the ids after the vocabulary's
    size_t added_count;
    bool chat;          // the words that the chat puts around a prompt are counted with each text
    atomic_int *cancel; // not zero: stop; NULL: never
} zn_tokenizer_training;

// Fewer tokens come out where no pair is frequent enough. Words of more than 1024 bytes teach
// nothing. *json is the caller's, by zn_free, with a closing zero that *size does not count. A text
// that is not UTF-8 is ZENITH_INVALID_ARGUMENT, with its number, and so is a special token that is
// empty or comes twice.
zenith_status zn_tokenizer_train(const zn_tokenizer_training *training, char **json, size_t *size,
                                 zn_error *err);

#endif
