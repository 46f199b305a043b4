// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zn_alloc is our only caller of the system's allocator (aligned_alloc; Windows has its own), so a
// test that wraps that one symbol can fail every allocation of ours in turn.
//
// An arena is a list of blocks, newest first; only the newest is handed out from:
//
//     blocks -> [header | used ...... | free ......] -> [header | used ......] -> NULL
#include "src/base/memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 16 * 1024, LAST_BLOCK = 1024 * 1024, ARENA_ALIGN = alignof(max_align_t) };

struct zn_arena_block {
    struct zn_arena_block *next;
    size_t size; // bytes after the header
    size_t used;
    alignas(max_align_t) uint8_t data[];
};

void *zn_alloc(size_t bytes)
{
    if (bytes == 0) bytes = 1;
    if (bytes > PTRDIFF_MAX - ZN_ALIGN) return NULL;
#ifdef _WIN32
    return _aligned_malloc(bytes, ZN_ALIGN);
#else
    return aligned_alloc(ZN_ALIGN, zn_round_up(bytes, ZN_ALIGN));
#endif
}

void *zn_alloc_zero(size_t bytes)
{
    void *block = zn_alloc(bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

void zn_free(void *block)
{
#ifdef _WIN32
    _aligned_free(block);
#else
    free(block);
#endif
}

bool zn_mul_size(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

bool zn_add_size(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

zenith_status zn_array_reserve(void **array, size_t *capacity, size_t count, size_t element,
                               zn_error *err)
{
    if (count <= *capacity) return ZENITH_OK;
    // Doubling keeps the copies linear; where twice does not fit, exactly what is asked for.
    size_t wanted = *capacity > SIZE_MAX / 2 || *capacity * 2 < count ? count : *capacity * 2;
    if (wanted < 8) wanted = 8;
    size_t bytes;
    if (!zn_mul_size(wanted, element, &bytes)) {
        wanted = count;
        if (!zn_mul_size(wanted, element, &bytes)) return zn_fail_memory(err, SIZE_MAX);
    }
    uint8_t *grown = zn_alloc(bytes);
    if (!grown) return zn_fail_memory(err, bytes);
    size_t old = *capacity * element;
    if (old > 0) memcpy(grown, *array, old);
    memset(grown + old, 0, bytes - old);
    zn_free(*array);
    *array = grown;
    *capacity = wanted;
    return ZENITH_OK;
}

// Puts a block in front that has room for at least `bytes`. Blocks double, so that a large graph
// needs few, and a small one does not ask for a megabyte.
static struct zn_arena_block *arena_grow(zn_arena *arena, size_t bytes)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    if (size > LAST_BLOCK) size = LAST_BLOCK;
    if (size < bytes) size = bytes;
    size_t whole;
    if (!zn_add_size(size, sizeof(struct zn_arena_block), &whole)) return NULL;
    struct zn_arena_block *block = zn_alloc_zero(whole);
    if (!block) return NULL;
    block->next = arena->blocks;
    block->size = size;
    arena->blocks = block;
    return block;
}

void *zn_arena_alloc(zn_arena *arena, size_t bytes)
{
    if (bytes > PTRDIFF_MAX - ARENA_ALIGN) return NULL;
    bytes = zn_round_up(bytes > 0 ? bytes : 1, ARENA_ALIGN);
    struct zn_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes) block = arena_grow(arena, bytes);
    if (!block) return NULL;
    void *result = block->data + block->used;
    block->used += bytes;
    arena->used += bytes;
    return result;
}

char *zn_arena_text(zn_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = zn_arena_alloc(arena, size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

zenith_status zn_arena_floats(zn_arena *arena, size_t rows, size_t width, float **out,
                              zn_error *err)
{
    size_t count = 0, bytes = 0;
    if (!zn_mul_size(rows, width, &count) || !zn_mul_size(count, sizeof(float), &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    *out = zn_arena_alloc(arena, bytes);
    return *out ? ZENITH_OK : zn_fail_memory(err, bytes);
}

void zn_arena_free(zn_arena *arena)
{
    while (arena->blocks) {
        struct zn_arena_block *next = arena->blocks->next;
        zn_free(arena->blocks);
        arena->blocks = next;
    }
    arena->used = 0;
}
