// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files of a tokenizer that are JSON share, for tokenizer_json.c and tokenizer_merges.c.
#ifndef ZN_TEXT_TOKENIZER_JSON_H
#define ZN_TEXT_TOKENIZER_JSON_H

#include "src/base/json.h"
#include "src/text/tokenizer_parts.h"

// {"token": id, ..}
zenith_status zn_tokenizer_read_vocabulary(zn_tokenizer *tokenizer, const zn_json *vocabulary,
                                           zn_error *err);
// {"content": .., "special": .., "normalized": .., "lstrip": false, ..}, the id apart.
zenith_status zn_tokenizer_read_added(zn_tokenizer *tokenizer, const zn_json *entry, int64_t id,
                                      zn_error *err);

#endif
