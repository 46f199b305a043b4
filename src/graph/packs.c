// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A list: a model has some tens of packed weights, and they are asked for only while compiling.
#include "src/graph/packs.h"

#include "src/base/memory.h"
#include "src/base/os.h"

#include <string.h>

typedef struct pack {
    struct pack *next;
    const void *source;
    void *key;
    size_t key_size, bytes;
    void *data;
    bool stale; // the source has changed since
} pack;

struct zn_packs {
    zn_mutex *lock;
    pack *first;
    size_t bytes;
    zn_packs_spent_fn *spent; // or NULL
    void *spent_arg;
    size_t unspent; // bytes packed since it was called
};

zenith_status zn_packs_create(zn_packs **out, zn_error *err)
{
    zn_packs *packs = zn_alloc_zero(sizeof *packs);
    if (!packs) return zn_fail_memory(err, sizeof *packs);
    zenith_status status = zn_mutex_create(&packs->lock, err);
    if (status != ZENITH_OK) {
        zn_free(packs);
        return status;
    }
    *out = packs;
    return ZENITH_OK;
}

static void pack_free(pack *p)
{
    zn_free(p->key);
    zn_free(p->data);
    zn_free(p);
}

void zn_packs_free(zn_packs *packs)
{
    if (!packs) return;
    for (pack *p = packs->first, *next; p; p = next) {
        next = p->next;
        pack_free(p);
    }
    zn_mutex_free(packs->lock);
    zn_free(packs);
}

void zn_packs_watch(zn_packs *packs, zn_packs_spent_fn *spent, void *arg)
{
    packs->spent = spent;
    packs->spent_arg = arg;
}

static void count_spent(zn_packs *packs, size_t bytes)
{
    packs->unspent += bytes;
    if (!packs->spent || packs->unspent < ZN_PACKS_SPENT) return;
    packs->spent(packs->spent_arg);
    packs->unspent = 0;
}

static pack *find(zn_packs *packs, const void *source, const void *key, size_t key_size)
{
    for (pack *p = packs->first; p; p = p->next) {
        if (p->source == source && p->key_size == key_size && memcmp(p->key, key, key_size) == 0) {
            return p;
        }
    }
    return NULL;
}

static zenith_status make_pack(const void *source, const void *key, size_t key_size, size_t bytes,
                               zn_pack_fn *make, void *arg, pack **out, zn_error *err)
{
    pack *p = zn_alloc_zero(sizeof *p);
    if (!p) return zn_fail_memory(err, sizeof *p);
    zenith_status status = ZENITH_OK;
    *p = (pack){.source = source, .key_size = key_size, .bytes = bytes};
    p->key = zn_alloc(key_size);
    p->data = zn_alloc_zero(bytes);
    if (!p->key || !p->data) {
        status = zn_fail_memory(err, bytes);
        goto fail;
    }
    memcpy(p->key, key, key_size);
    ZN_GO(make(arg, p->data, err));
    *out = p;
    return ZENITH_OK;
fail:
    pack_free(p);
    return status;
}

zenith_status zn_packs_get(zn_packs *packs, const void *source, const void *key, size_t key_size,
                           size_t bytes, zn_pack_fn *make, void *arg, const void **out,
                           zn_error *err)
{
    zenith_status status = ZENITH_OK;
    zn_mutex_lock(packs->lock);
    pack *p = find(packs, source, key, key_size);
    if (!p) {
        ZN_GO(make_pack(source, key, key_size, bytes, make, arg, &p, err));
        p->next = packs->first;
        packs->first = p;
        packs->bytes += bytes;
        count_spent(packs, bytes);
    } else if (p->stale) {
        ZN_GO(make(arg, p->data, err));
        p->stale = false;
    }
    *out = p->data;
fail:
    zn_mutex_unlock(packs->lock);
    return status;
}

void zn_packs_refresh(zn_packs *packs, const void *begin, size_t bytes)
{
    const uintptr_t first = (uintptr_t)begin;
    zn_mutex_lock(packs->lock);
    for (pack *p = packs->first; p; p = p->next) {
        const uintptr_t source = (uintptr_t)p->source;
        if (source >= first && source - first < bytes) p->stale = true;
    }
    zn_mutex_unlock(packs->lock);
}

size_t zn_packs_bytes(const zn_packs *packs)
{
    zn_mutex_lock(packs->lock);
    size_t bytes = packs->bytes;
    zn_mutex_unlock(packs->lock);
    return bytes;
}
