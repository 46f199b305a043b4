// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A tokenizer from inside, for the files that make one: create with the number of tokens and
// merges, add tokens, then merges, then added tokens, then finish.
#ifndef ZN_TEXT_TOKENIZER_PARTS_H
#define ZN_TEXT_TOKENIZER_PARTS_H

#include "src/text/added_tokens.h"
#include "src/text/splitter.h"
#include "src/text/tokenizer.h"
#include "src/text/vocabulary.h"

struct zn_tokenizer {
    zn_vocabulary vocabulary;
    int32_t byte_ids[256];
    zn_added_tokens added;      // looked for in the text as it comes
    zn_added_tokens normalised; // looked for in normalised text
    zn_splitter *splitter;
    bool nfc;
    bool whole_words; // a word that is a token is that token, whatever merges make of it
};

// `added` is how many added tokens there may be besides `tokens`.
zenith_status zn_tokenizer_create(size_t tokens, size_t merges, size_t added, zn_tokenizer **out,
                                  zn_error *err);

// A token as byte-level vocabularies write it, in the byte alphabet; else it is literal.
zenith_status zn_tokenizer_add_text(zn_tokenizer *tokenizer, zn_bytes text, int64_t id,
                                    zn_error *err);
// A merge of two tokens in the byte alphabet. With the rank in the sentence where there is none.
zenith_status zn_tokenizer_add_merge(zn_tokenizer *tokenizer, zn_bytes left, zn_bytes right,
                                     size_t rank, zn_error *err);
// The same of "left right".
zenith_status zn_tokenizer_add_merge_line(zn_tokenizer *tokenizer, zn_bytes line, size_t rank,
                                          zn_error *err);

typedef struct zn_added_fact {
    zn_bytes text;
    int64_t id;
    bool special, normalised;
} zn_added_fact;
// The vocabulary may have the token already, under the same id.
zenith_status zn_tokenizer_add_added(zn_tokenizer *tokenizer, const zn_added_fact *fact,
                                     zn_error *err);
// Those of Qwen3, after the last id: for files that do not name theirs.
enum { ZN_QWEN_ADDED = 26 };
zenith_status zn_tokenizer_add_qwen(zn_tokenizer *tokenizer, zn_error *err);

// Every byte must have its token.
zenith_status zn_tokenizer_find_bytes(zn_tokenizer *tokenizer, zn_error *err);
// Checks, sorts, compiles the pattern. `where` names the file in messages about the pattern.
zenith_status zn_tokenizer_finish(zn_tokenizer *tokenizer, const char *pattern, const char *where,
                                  zn_error *err);

#endif
