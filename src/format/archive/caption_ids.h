// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Captions of pictures, a line of JSON for each picture, in their order: as numbers of tokens,
//
//     {"empty": [1]}                     the caption that says nothing: at most one line, anywhere
//     {"ids": [17, 3, 25]}               the caption of the first picture
//     {"ids": [[4, 11], [17, 11]]}       several captions of the second
//
// or, where there is someone to encode them, as texts, beside any other keys:
//
//     {"caption": "a red apple"}
//     {"captions": ["a red apple", "an apple, red"], "file": "apple.png"}
//
// Of several texts those that are too long are left out, unless all are.
#ifndef ZN_FORMAT_ARCHIVE_CAPTION_IDS_H
#define ZN_FORMAT_ARCHIVE_CAPTION_IDS_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_caption {
    const int32_t *ids;
    size_t count; // at least 1; 0: there is none
} zn_caption;

typedef struct zn_caption_ids {
    int32_t *ids;           // of all captions, one after the other
    size_t *begin;          // of each caption: one more than there are
    size_t *first;          // the first caption of each picture: one more than there are
    size_t captions, count; // of all pictures; pictures
    size_t left_out;        // texts of several that were too long
    int32_t *empty;
    size_t empty_count; // 0: there is none
    size_t ids_capacity, begin_capacity, first_capacity, empty_capacity;
} zn_caption_ids;

// What the file is read by.
typedef struct zn_caption_reader {
    const char *name;   // of the file, for messages
    int64_t vocabulary; // numbers are below it
    size_t most;        // numbers of a caption
    // The numbers of a text, to be freed by zn_free; the file then has texts, and the empty caption
    // is that of "". NULL: it has numbers.
    zenith_status (*encode)(const void *cookie, const char *text, int32_t **ids, size_t *count,
                            zn_error *err);
    const void *cookie;
} zn_caption_reader;
zenith_status zn_caption_ids_read(const uint8_t *data, size_t size, const zn_caption_reader *by,
                                  zn_caption_ids *out, zn_error *err);
void zn_caption_ids_free(zn_caption_ids *captions); // zeroes it; a zeroed one is fine

// Captions that picture `index` has: 1 or more; and one of them.
size_t zn_caption_ids_several(const zn_caption_ids *captions, size_t index);
zn_caption zn_caption_ids_get(const zn_caption_ids *captions, size_t index, size_t which);
zn_caption zn_caption_ids_empty(const zn_caption_ids *captions);

#endif
