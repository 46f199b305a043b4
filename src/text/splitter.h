// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts text into words by a regular expression: each match is a word, and so is what lies between
// two matches. All contact with PCRE2 is here, in its UTF and UCP modes.
//
// A pattern comes from a file, and the text from a stranger, so both are bounded: the pattern's
// size and nesting, the steps of one match, PCRE2's memory. The patterns that this file knows take
// linear time. Any other counts its steps through a whole text and ends with ZENITH_LIMIT at 2^22 +
// 64 per byte. JIT is not used: hosts may forbid memory that is written and run, and words are not
// where time goes.
//
// \s is White_Space here. PCRE2's own also has U+180E, which Unicode took out; known patterns are
// therefore translated, and others are read as PCRE2 reads them.
#ifndef ZN_TEXT_SPLITTER_H
#define ZN_TEXT_SPLITTER_H

#include "src/base/status.h"

#include <stddef.h>

// As published with Qwen2 and all later Qwen models.
extern const char zn_pattern_qwen2[];
extern const char zn_pattern_gpt2[];

typedef struct zn_splitter zn_splitter;

// `where` names the file in messages.
zenith_status zn_splitter_create(const char *pattern, const char *where, zn_splitter **out,
                                 zn_error *err);
void zn_splitter_free(zn_splitter *splitter); // NULL is fine

typedef zenith_status zn_word_fn(void *cookie, const char *word, size_t size, zn_error *err);
// The text must be UTF-8. Words are never empty, and one after the other they are the text. May run
// on several threads at once.
zenith_status zn_splitter_each(const zn_splitter *splitter, const char *text, size_t size,
                               zn_word_fn *each, void *cookie, zn_error *err);

#endif
