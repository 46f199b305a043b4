// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// LMDB databases in memory, as data sets are published in them (data.mdb): the entries of the main
// table, in byte order of their keys. A value is an offset and a size. Written by a machine of 64
// bits and little end, with any size of pages; entries with several values, and tables in the
// table, are passed over.
//
// Every page number and offset is checked, and the walk ends: liblmdb, which trusts its files, ends
// the process by a signal where a file is cut off.
#ifndef ZN_FORMAT_ARCHIVE_LMDB_H
#define ZN_FORMAT_ARCHIVE_LMDB_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ZN_LMDB_DEPTH = 32, // of the tree, at most: pages from its root to an entry
    ZN_LMDB_KEY = 512   // bytes of the longest key, with a closing zero
};

typedef struct zn_lmdb {
    const uint8_t *data;
    size_t size, page; // bytes: of the file, of a page
    uint64_t visits;   // pages that may still be entered: no tree has more than the file
    int depth;         // of the path to the next entry; 0: there is none
    struct {
        size_t at;       // of the page
        unsigned next;   // of its nodes
        unsigned number; // of nodes
    } path[ZN_LMDB_DEPTH];
    char key[ZN_LMDB_KEY];
} zn_lmdb;

typedef struct zn_lmdb_entry {
    const char *key; // lies in the zn_lmdb, until the next call; bytes that are no text become '?'
    size_t offset;   // of the value's first byte
    size_t size;     // offset + size lies within the file
} zn_lmdb_entry;

bool zn_lmdb_is(const uint8_t *data, size_t size); // by its first bytes
// `data` stays valid and unchanged while entries are read.
zenith_status zn_lmdb_begin(zn_lmdb *lmdb, const uint8_t *data, size_t size, zn_error *err);
// The next entry; *found is false at the end. Not to be called after a failure.
zenith_status zn_lmdb_next(zn_lmdb *lmdb, zn_lmdb_entry *out, bool *found, zn_error *err);

#endif
