// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The C library's allocation calls on top of zn_alloc. zn_alloc has no realloc, so the size lies in
// front of each block; a whole cache line of it keeps the block as aligned as zn_alloc's.
#include "src/base/memory.h"
#include "src/format/image_codec.h"

#include <string.h>

static void *base_of(void *block)
{
    return (uint8_t *)block - ZN_ALIGN;
}

void *zn_codec_malloc(size_t bytes)
{
    size_t total;
    if (!zn_add_size(bytes, ZN_ALIGN, &total)) return NULL;
    uint8_t *base = zn_alloc(total);
    if (!base) return NULL;
    memcpy(base, &bytes, sizeof bytes);
    return base + ZN_ALIGN;
}

size_t zn_codec_size(const void *block)
{
    size_t bytes;
    memcpy(&bytes, (const uint8_t *)block - ZN_ALIGN, sizeof bytes);
    return bytes;
}

void *zn_codec_realloc(void *block, size_t bytes)
{
    void *grown = zn_codec_malloc(bytes);
    if (!grown || !block) return grown;
    size_t old = zn_codec_size(block);
    memcpy(grown, block, old < bytes ? old : bytes);
    zn_codec_free(block);
    return grown;
}

void *zn_codec_calloc(size_t count, size_t bytes)
{
    size_t total;
    if (!zn_mul_size(count, bytes, &total)) return NULL;
    void *block = zn_codec_malloc(total);
    if (block) memset(block, 0, total);
    return block;
}

void zn_codec_free(void *block)
{
    if (block) zn_free(base_of(block));
}
