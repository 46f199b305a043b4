// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tokens that are found in a text as they stand, before it is split into words: "<|im_start|>". At
// each place the longest one counts, and the leftmost place comes first.
#ifndef ZN_TEXT_ADDED_TOKENS_H
#define ZN_TEXT_ADDED_TOKENS_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_added {
    char *text; // owned, of `size` bytes
    size_t size;
    int32_t id;
} zn_added;

// Zeroed at birth. Sorted by text once all are there, so that a search narrows a range byte by
// byte.
typedef struct zn_added_tokens {
    zn_added *tokens;
    size_t count, room;
    size_t first[257]; // tokens that begin with byte b: first[b] .. first[b+1]-1
} zn_added_tokens;

zenith_status zn_added_tokens_add(zn_added_tokens *set, const char *text, size_t size, int32_t id,
                                  zn_error *err);
// Sorts; ZENITH_BAD_FILE where two have the same text.
zenith_status zn_added_tokens_finish(zn_added_tokens *set, zn_error *err);
void zn_added_tokens_free(zn_added_tokens *set);

// The token that begins nearest to the beginning of the text; NULL where there is none. *at is
// where.
const zn_added *zn_added_tokens_search(const zn_added_tokens *set, const char *text, size_t size,
                                       size_t *at);

#endif
