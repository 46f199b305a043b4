// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Decoded pictures, kept up to a number of bytes; the least recently used one goes first. For any
// number of threads. A picture that somebody holds stays until it is released, in the cache or not,
// so at most one picture for each thread comes on top of the bound.
#ifndef ZN_TRAIN_DATA_PICTURE_CACHE_H
#define ZN_TRAIN_DATA_PICTURE_CACHE_H

#include "src/base/status.h"
#include "src/format/image/image.h"

#include <stddef.h>

typedef struct zn_picture_cache zn_picture_cache;

typedef struct zn_cached_picture {
    zn_image_pixels pixels; // not to be changed: it is shared
    size_t number, bytes;
    int holders;                             // the cache itself is one
    struct zn_cached_picture *older, *newer; // in the order of use, while it is in the cache
} zn_cached_picture;

// For pictures numbered 0 .. pictures-1. max_bytes 0: nothing is kept.
zenith_status zn_picture_cache_create(size_t pictures, size_t max_bytes, zn_picture_cache **out,
                                      zn_error *err);
void zn_picture_cache_free(zn_picture_cache *cache); // all pictures are released; NULL is fine

// Held, or NULL when it is not there.
zn_cached_picture *zn_picture_cache_find(zn_picture_cache *cache, size_t number);
// Takes the pixels over and holds them; on failure they are still the caller's. Where another
// thread was first with the same picture, its pixels are kept and these are freed.
zenith_status zn_picture_cache_add(zn_picture_cache *cache, size_t number, zn_image_pixels *pixels,
                                   zn_cached_picture **out, zn_error *err);
void zn_picture_cache_release(zn_picture_cache *cache, zn_cached_picture *picture);

size_t zn_picture_cache_bytes(zn_picture_cache *cache); // of what it keeps

#endif
