// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/data/key_set.h"

#include <string.h>

enum { FIRST_CAPACITY = 1024 };

// FNV-1a. Keys that were made to collide cost time, and nothing else.
static size_t hash_of(const char *key)
{
    uint64_t hash = 14695981039346656037u;
    for (; *key; key++) hash = (hash ^ (unsigned char)*key) * 1099511628211u;
    return (size_t)(hash ^ hash >> 32);
}

// Where the key is, or the free slot where it belongs.
static size_t slot_of(const char *const *slots, size_t capacity, const char *key)
{
    size_t at = hash_of(key) & (capacity - 1);
    while (slots[at] && strcmp(slots[at], key) != 0) at = (at + 1) & (capacity - 1);
    return at;
}

static zenith_status grow(zn_key_set *set, zn_error *err)
{
    const size_t capacity = set->capacity ? 2 * set->capacity : FIRST_CAPACITY;
    const char **slots = zn_alloc_zero(capacity * sizeof *slots);
    if (!slots) return zn_fail_memory(err, capacity * sizeof *slots);
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i]) slots[slot_of(slots, capacity, set->slots[i])] = set->slots[i];
    zn_free((void *)set->slots);
    set->slots = slots;
    set->capacity = capacity;
    return ZENITH_OK;
}

zenith_status zn_key_set_add(zn_key_set *set, const char *key, bool *is_new, zn_error *err)
{
    if (2 * (set->count + 1) > set->capacity) ZN_TRY(grow(set, err));
    const size_t at = slot_of(set->slots, set->capacity, key);
    *is_new = !set->slots[at];
    if (!*is_new) return ZENITH_OK;
    set->slots[at] = zn_arena_text(&set->arena, key);
    if (!set->slots[at]) return zn_fail_memory(err, strlen(key) + 1);
    set->count++;
    return ZENITH_OK;
}

void zn_key_set_free(zn_key_set *set)
{
    zn_free((void *)set->slots);
    zn_arena_free(&set->arena);
    *set = (zn_key_set){0};
}
