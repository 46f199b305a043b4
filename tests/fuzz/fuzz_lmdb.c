// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an LMDB database: the walk ends, and every value lies inside the bytes.
#include "src/format/archive/lmdb.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_lmdb lmdb;
    zn_error err = {{0}};
    bool found = true;
    if (zn_lmdb_begin(&lmdb, data, size, &err) != ZENITH_OK) {
        if (!*err.text) __builtin_trap();
        return 0;
    }
    while (found) {
        zn_lmdb_entry entry = {0};
        if (zn_lmdb_next(&lmdb, &entry, &found, &err) != ZENITH_OK) {
            if (!*err.text) __builtin_trap();
            return 0;
        }
        if (!found) return 0;
        if (entry.offset > size || entry.size > size - entry.offset) __builtin_trap();
        if (strlen(entry.key) >= ZN_LMDB_KEY) __builtin_trap();
    }
    return 0;
}
