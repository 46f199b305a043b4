// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The C library's allocation calls on top of zn_alloc. zn_alloc has no realloc, so the size lies in
// front of each block; a whole cache line of it keeps the block as aligned as zn_alloc's.
//
// The hooks carry no pointer of ours, and zlib inside libspng reports a failed allocation as broken
// data. So the failure is noted here, per thread, from zn_codec_failure_clear until it is asked for
// in the same call of the library: no state outlives a call.
#include "src/base/memory.h"
#include "src/format/image/codec.h"

#include <string.h>

static _Thread_local bool failed;

void zn_codec_failure_clear(void)
{
    failed = false;
}

bool zn_codec_failure(void)
{
    return failed;
}

static void *base_of(void *block)
{
    return (uint8_t *)block - ZN_ALIGN;
}

void *zn_codec_malloc(size_t bytes)
{
    size_t total;
    uint8_t *base = zn_add_size(bytes, ZN_ALIGN, &total) ? zn_alloc(total) : NULL;
    if (!base) {
        failed = true;
        return NULL;
    }
    memcpy(base, &bytes, sizeof bytes);
    return base + ZN_ALIGN;
}

static size_t size_of(const void *block)
{
    size_t bytes;
    memcpy(&bytes, (const uint8_t *)block - ZN_ALIGN, sizeof bytes);
    return bytes;
}

void *zn_codec_realloc(void *block, size_t bytes)
{
    void *grown = zn_codec_malloc(bytes);
    if (!grown || !block) return grown;
    size_t old = size_of(block);
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
