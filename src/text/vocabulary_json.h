// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A vocabulary as tokenizer.json, with Qwen's normaliser and pattern.
#ifndef ZN_TEXT_VOCABULARY_JSON_H
#define ZN_TEXT_VOCABULARY_JSON_H

#include "src/text/vocabulary.h"

// Merges in the order of their ranks; added tokens get the ids after the vocabulary's. *json is the
// caller's, by zn_free, with a closing zero that *size does not count.
zenith_status zn_vocabulary_json(const zn_vocabulary *vocabulary, const zn_merge *merges,
                                 size_t merge_count, const char *const *added, size_t added_count,
                                 char **json, size_t *size, zn_error *err);

#endif
