// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Training tokenizers. Experimental: this header may change with any version. The rules of zenith.h
// apply.
#ifndef ZENITH_TOKENIZER_H
#define ZENITH_TOKENIZER_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- tokenizers ----------------------------------------------------------------------------------

typedef struct zenith_tokenizer_params {
    size_t size;
    // .jsonl files, where each line is an object with "caption" (a text) or "captions" (a list of
    // texts), or UTF-8 text files, where each line is a text. At most 1 GiB of text.
    const char *const *sources;
    size_t count;
    const char *output; // a folder, created if it does not exist, which gets tokenizer.json
    uint32_t tokens;    // size of the vocabulary, with the 256 bytes and the special tokens
    // Special tokens, which get the last ids. NULL: those that the text models of zenith_generate
    // need, which are <|endoftext|>, <|im_start|> and <|im_end|>.
    const char *const *special;
    size_t special_count;
    // false: the words that zenith_generate puts around a prompt are counted with each text, so
    // that they become tokens. true: only the texts are counted.
    bool plain;
    zenith_cancel *cancel;
} zenith_tokenizer_params;

typedef struct zenith_tokenizer_info {
    size_t size;
    uint64_t texts, bytes; // that were read
    uint32_t tokens;  // in the vocabulary: fewer than asked for if no further pair occurs twice
    uint64_t encoded; // number of tokens in all texts, encoded with this tokenizer
} zenith_tokenizer_info;

// Trains a byte-level BPE tokenizer: again and again, the most frequent pair of neighbouring tokens
// within words becomes a new token. Ties go to the pair with the smaller left id, and then with the
// smaller right id. The same texts in any order give the same file. out may be NULL.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_tokenizer_train(
    zenith_context *context, const zenith_tokenizer_params *params, zenith_tokenizer_info *out);

// --- structs with their defaults: zenith_TYPE_init(&it) ------------------------------------------

ZENITH_DEFINE_INIT(zenith_tokenizer_params)
ZENITH_DEFINE_INIT(zenith_tokenizer_info)

#ifdef __cplusplus
}
#endif
#endif
