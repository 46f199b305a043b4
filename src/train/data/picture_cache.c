// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One lock; it is held for a few pointers, never while a picture is decoded or freed.
//
//   invariants  entries[n] is NULL or in the list; bytes is the sum over the list, <= max_bytes;
//               holders counts the cache (while listed) and every find/add not yet released
#include "src/train/data/picture_cache.h"

#include "src/base/memory.h"
#include "src/base/os.h"

struct zn_picture_cache {
    zn_mutex *lock;
    size_t max_bytes, bytes;
    zn_cached_picture *oldest, *newest;
    zn_cached_picture **entries; // by number
};

zenith_status zn_picture_cache_create(size_t pictures, size_t max_bytes, zn_picture_cache **out,
                                      zn_error *err)
{
    zn_picture_cache *cache = zn_alloc_zero(sizeof *cache);
    if (!cache) return zn_fail_memory(err, sizeof *cache);
    zenith_status status;
    size_t bytes;
    cache->max_bytes = max_bytes;
    if (!zn_mul_size(pictures, sizeof *cache->entries, &bytes)) bytes = SIZE_MAX;
    cache->entries = bytes < SIZE_MAX ? zn_alloc_zero(bytes) : NULL;
    if (!cache->entries) ZN_GO(zn_fail_memory(err, bytes));
    ZN_GO(zn_mutex_create(&cache->lock, err));
    *out = cache;
    return ZENITH_OK;
fail:
    zn_picture_cache_free(cache);
    return status;
}

static void picture_free(zn_cached_picture *picture)
{
    if (!picture) return;
    zn_image_pixels_free(&picture->pixels);
    zn_free(picture);
}

void zn_picture_cache_free(zn_picture_cache *cache)
{
    if (!cache) return;
    for (zn_cached_picture *each = cache->oldest, *next; each; each = next) {
        next = each->newer;
        picture_free(each);
    }
    zn_mutex_free(cache->lock);
    zn_free(cache->entries);
    zn_free(cache);
}

// --- under the lock

static void unlink_picture(zn_picture_cache *cache, zn_cached_picture *picture)
{
    if (picture->older)
        picture->older->newer = picture->newer;
    else
        cache->oldest = picture->newer;
    if (picture->newer)
        picture->newer->older = picture->older;
    else
        cache->newest = picture->older;
    picture->older = picture->newer = NULL;
}

static void link_newest(zn_picture_cache *cache, zn_cached_picture *picture)
{
    picture->older = cache->newest;
    picture->newer = NULL;
    if (cache->newest)
        cache->newest->newer = picture;
    else
        cache->oldest = picture;
    cache->newest = picture;
}

static zn_cached_picture *hold(zn_picture_cache *cache, size_t number)
{
    zn_cached_picture *found = cache->entries[number];
    if (!found) return NULL;
    found->holders++;
    unlink_picture(cache, found);
    link_newest(cache, found);
    return found;
}

// Takes the oldest out until `bytes` more fit. Those that nobody holds go to *unused, by `newer`.
static void make_room(zn_picture_cache *cache, size_t bytes, zn_cached_picture **unused)
{
    while (cache->oldest && bytes > cache->max_bytes - cache->bytes) {
        zn_cached_picture *oldest = cache->oldest;
        unlink_picture(cache, oldest);
        cache->entries[oldest->number] = NULL;
        cache->bytes -= oldest->bytes;
        if (--oldest->holders > 0) continue;
        oldest->newer = *unused;
        *unused = oldest;
    }
}

// --- with and without it

zn_cached_picture *zn_picture_cache_find(zn_picture_cache *cache, size_t number)
{
    zn_mutex_lock(cache->lock);
    zn_cached_picture *found = hold(cache, number);
    zn_mutex_unlock(cache->lock);
    return found;
}

zenith_status zn_picture_cache_add(zn_picture_cache *cache, size_t number, zn_image_pixels *pixels,
                                   zn_cached_picture **out, zn_error *err)
{
    zn_cached_picture *added = zn_alloc_zero(sizeof *added), *unused = NULL;
    if (!added) return zn_fail_memory(err, sizeof *added);
    added->number = number;
    added->bytes = 3 * (size_t)pixels->width * pixels->height;
    added->pixels = *pixels;
    added->holders = 1;
    *pixels = (zn_image_pixels){0};
    zn_mutex_lock(cache->lock);
    zn_cached_picture *first = hold(cache, number);
    if (!first && added->bytes <= cache->max_bytes) {
        make_room(cache, added->bytes, &unused);
        link_newest(cache, added);
        cache->entries[number] = added;
        cache->bytes += added->bytes;
        added->holders++;
    }
    zn_mutex_unlock(cache->lock);
    if (first) picture_free(added);
    for (zn_cached_picture *next; unused; unused = next) {
        next = unused->newer;
        picture_free(unused);
    }
    *out = first ? first : added;
    return ZENITH_OK;
}

void zn_picture_cache_release(zn_picture_cache *cache, zn_cached_picture *picture)
{
    zn_mutex_lock(cache->lock);
    bool last = --picture->holders == 0;
    zn_mutex_unlock(cache->lock);
    if (last) picture_free(picture);
}

size_t zn_picture_cache_bytes(zn_picture_cache *cache)
{
    zn_mutex_lock(cache->lock);
    size_t bytes = cache->bytes;
    zn_mutex_unlock(cache->lock);
    return bytes;
}
