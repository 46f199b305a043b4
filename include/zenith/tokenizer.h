// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Training tokenizers. Experimental: this header may change with any version. The rules are those
// of zenith.h.
#ifndef ZENITH_TOKENIZER_H
#define ZENITH_TOKENIZER_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- tokenizers ----------------------------------------------------------------------------------

typedef struct zenith_tokenizer_params {
    size_t size;
    // Files: .jsonl, where each line is an object with "caption" (a text) or "captions" (a list of
    // them), or UTF-8 text, where each line is a text.
    const char *const *sources;
    size_t count;
    const char *output; // a folder, which is made; it gets tokenizer.json
    uint32_t tokens;    // that there shall be, at most, with the 256 bytes and the special tokens
    // They get the last ids. NULL: those that zenith_generate's text models need: <|endoftext|>,
    // <|im_start|> and
    // <|im_end|>.
    const char *const *special;
    size_t special_count;
    // false: the words that zenith_generate puts around a prompt are counted with each text, so
    // that they become tokens.
    bool plain;
    zenith_cancel *cancel;
} zenith_tokenizer_params;

typedef struct zenith_tokenizer_info {
    size_t size;
    uint64_t texts, bytes; // that were read
    uint32_t tokens;  // of the tokenizer: fewer than wanted where no pair occurs twice any more
    uint64_t encoded; // tokens that the texts become
} zenith_tokenizer_info;

// Trains a byte-level BPE on texts: the most frequent pair of neighbours within words becomes a
// token, again and again; of equally frequent pairs the one with the smaller ids, left before
// right. The same texts in any order give the same bytes. out may be NULL.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_tokenizer_train(
    zenith_context *context, const zenith_tokenizer_params *params, zenith_tokenizer_info *out);

// --- structs with their defaults: zenith_TYPE_init(&it) ------------------------------------------

ZENITH_DEFINE_INIT(zenith_tokenizer_params)
ZENITH_DEFINE_INIT(zenith_tokenizer_info)

#ifdef __cplusplus
}
#endif
#endif
