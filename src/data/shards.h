// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of pictures as shards, the units of work of a dataset. The tar archives of a folder
// (WebDataset) are a shard each. A folder of pictures is cut into shards of so many pictures, in
// byte order of the names of each folder; what belongs to a picture (NAME.txt, NAME.json, NAME.cls)
// goes with it. The list is the same on every machine that sees the same files. A folder may be one
// of the caller's storage (data/object.h); the shards are then the same ones.
#ifndef ZN_DATA_SHARDS_H
#define ZN_DATA_SHARDS_H

#include "src/base/status.h"

#include "zenith/dataset.h"

typedef struct zn_shard_file {
    const char *path;
    const char *name; // KEY.ending: from the folder on, where dots in KEY have become underscores
    uint64_t size;
    bool is_picture;
    const char *object_etag; // of a storage's object; NULL: it is a file
    const char *fault; // why it cannot be read, such as a link that leads nowhere; NULL: it can
} zn_shard_file;

typedef struct zn_shard {
    const char *name;              // of what is made of it: NAME.tar and NAME.json
    const char *archive;           // the path of a tar; NULL: it is files
    const zn_shard_file *files;    // of a folder
    size_t count;                  // of files
    size_t pictures;               // of a folder; 0: not known
    uint64_t bytes;                // of all of it
    char etag[65];                 // SHA-256 of the names, sizes and times (or etags) of its files
    const char *object_etag;       // of an archive that is an object; NULL: it is a file
    const zenith_storage *storage; // that paths may be of; NULL: none
} zn_shard;

typedef struct zn_shards zn_shards;

// input: a folder with tar archives, a folder with pictures, or one tar. pictures: of a shard that
// is cut from a folder. Archives and pictures beside each other are refused, and so is a folder
// without either. storage: that the input may be of, and must outlive the list; may be NULL.
zenith_status zn_shards_open(const zenith_storage *storage, const char *input, size_t pictures,
                             zn_shards **out, zn_error *err);
void zn_shards_free(zn_shards *shards); // NULL is fine

size_t zn_shards_count(const zn_shards *shards);
const zn_shard *zn_shards_get(const zn_shards *shards, size_t index);
bool zn_shards_are_cut(const zn_shards *shards); // from a folder of pictures

#endif
