// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Captions of pictures as numbers of tokens, a line of JSON each, in the order of the pictures:
//
//     {"empty": [1]}             the caption that says nothing: at most one line, anywhere
//     {"ids": [17, 3, 25]}       the caption of the first picture
//     {"ids": [4, 11]}           of the second
#ifndef ZN_FORMAT_CAPTION_IDS_H
#define ZN_FORMAT_CAPTION_IDS_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_caption {
    const int32_t *ids;
    size_t count; // at least 1; 0: there is none
} zn_caption;

typedef struct zn_caption_ids {
    int32_t *ids;  // of all captions, one after the other
    size_t *begin; // of each: one more than there are
    size_t count;
    int32_t *empty;
    size_t empty_count; // 0: the file has none
    size_t ids_capacity, begin_capacity, empty_capacity;
} zn_caption_ids;

// Numbers are below `vocabulary`, and a caption has at most `most` of them. `name` is used in messages.
zenith_status zn_caption_ids_read(const uint8_t *data, size_t size, const char *name,
                                  int64_t vocabulary, size_t most, zn_caption_ids *out,
                                  zn_error *err);
void zn_caption_ids_free(zn_caption_ids *captions); // zeroes it; a zeroed one is fine

zn_caption zn_caption_ids_get(const zn_caption_ids *captions, size_t index); // index < count
zn_caption zn_caption_ids_empty(const zn_caption_ids *captions);

#endif
