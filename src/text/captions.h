// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts out of files, for training a tokenizer: the lines of a text file, or the "caption" and
// "captions" of each line of a .jsonl file. Empty texts are left out.
#ifndef ZN_TEXT_CAPTIONS_H
#define ZN_TEXT_CAPTIONS_H

#include "src/base/memory.h"
#include "src/text/tokenizer.h"

#include <stdatomic.h>

#define ZN_CAPTIONS_MOST ((uint64_t)1 << 30) // bytes of all texts; more is ZENITH_LIMIT

// Zeroed at birth.
typedef struct zn_captions {
    zn_bytes *texts; // in the arena
    size_t count, room;
    uint64_t bytes;
    zn_arena arena;
} zn_captions;

// `where` names the file in messages, and its ending decides: .jsonl, or text. A line that is not
// UTF-8, or of a .jsonl file no object with a caption, is ZENITH_BAD_FILE, with its number.
zenith_status zn_captions_read(zn_captions *captions, zn_bytes file, const char *where,
                               atomic_int *cancel, zn_error *err);
void zn_captions_free(zn_captions *captions);

#endif
