// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of pictures as shards, the units of work of a dataset. The tar archives of a folder (WebDataset) are a shard each.
// A folder of pictures is cut into shards of so many pictures, in byte order of the names of each folder; what belongs to a
// picture (NAME.txt, NAME.json, NAME.cls) goes with it. The list is the same on every machine that sees the same files.
#ifndef ZN_DATA_SHARDS_H
#define ZN_DATA_SHARDS_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct zn_shard_file {
    const char *path;
    const char *name; // KEY.ending: from the folder on, where dots in KEY have become underscores
    uint64_t size;
    bool is_picture;
} zn_shard_file;

typedef struct zn_shard {
    const char *name;           // of what is made of it: NAME.tar and NAME.json
    const char *archive;        // the path of a tar; NULL: it is files
    const zn_shard_file *files; // of a folder
    size_t count;               // of files
    size_t pictures;            // of a folder; 0: not known
    uint64_t bytes;             // of all of it
    char etag[65];              // SHA-256 of the names, sizes and times of its files
} zn_shard;

typedef struct zn_shards zn_shards;

// input: a folder with tar archives, a folder with pictures, or one tar. pictures: of a shard that is cut from a folder.
// Archives and pictures beside each other are refused, and so is a folder without either.
zenith_status zn_shards_open(const char *input, size_t pictures, zn_shards **out, zn_error *err);
void zn_shards_free(zn_shards *shards); // NULL is fine

size_t zn_shards_count(const zn_shards *shards);
const zn_shard *zn_shards_get(const zn_shards *shards, size_t index);
bool zn_shards_are_cut(const zn_shards *shards); // from a folder of pictures

#endif
