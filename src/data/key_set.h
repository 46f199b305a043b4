// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The keys of a shard that were seen, to tell those that come twice. A zeroed one is empty.
#ifndef ZN_DATA_KEY_SET_H
#define ZN_DATA_KEY_SET_H

#include "src/base/memory.h"

typedef struct zn_key_set {
    zn_arena arena; // of the texts
    const char **slots;
    size_t count, capacity; // capacity: 0 or a power of two, at least twice the count
} zn_key_set;

zenith_status zn_key_set_add(zn_key_set *set, const char *key, bool *is_new, zn_error *err);
void zn_key_set_free(zn_key_set *set);

#endif
