// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What pictures show, by name, for training a classifier: JSON or CSV.
//
//     {"attributes": ["glasses", "hair"], "labels": {"train/1.png": [1, "red"], ..}}
//     {"train/1.png": {"glasses": true, "hair": "red"}, ..}     may also be the value of "labels"
//     picture,glasses,hair                                      CSV: a line of names, then a line
//     train/1.png,1,red                                         for each picture
//
// An attribute whose values are all 0 or -1 (no) and 1 (yes), or true and false, is one column. Any
// other has a column for each value that occurs, "hair=red", in byte order, and a picture may lack
// it: then all of these are no.
#ifndef ZN_FORMAT_ARCHIVE_LABELS_H
#define ZN_FORMAT_ARCHIVE_LABELS_H

#include "src/base/memory.h"
#include "src/base/status.h"

typedef struct zn_labels {
    zn_arena arena; // owns all below
    const char **columns;
    size_t columns_count;
    struct zn_labelled {
        const char *picture;
        const uint8_t *values; // [columns_count], 0 or 1
    } * rows;                  // by name
    size_t rows_count;
} zn_labels;

zenith_status zn_labels_open(const char *path, zn_labels *out, zn_error *err);
// The same of bytes; `name` is used in messages.
zenith_status zn_labels_read(const uint8_t *data, size_t size, const char *name, zn_labels *out,
                             zn_error *err);
// The values of a picture, whose path ends with its name here; NULL: it has none.
const uint8_t *zn_labels_find(const zn_labels *labels, const char *path);
void zn_labels_free(zn_labels *labels); // zeroes it; a zeroed one is fine

#endif
