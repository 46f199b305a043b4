// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory: aligned blocks that may fail, checked size arithmetic, and an arena for things that live
// and die together (a graph and its nodes). All our own allocations go through zn_alloc, so that a
// test can make each one fail in turn; libraries that we call may have their own.
#ifndef ZN_BASE_MEMORY_H
#define ZN_BASE_MEMORY_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZN_ALIGN 64 // one cache line, one AVX-512 register, and what oneDNN likes

// Aligned to ZN_ALIGN; NULL when there is none. Size 0 gives a block of one line. The content of
// zn_alloc's is undefined.
void *zn_alloc(size_t bytes);
void *zn_alloc_zero(size_t bytes);
void zn_free(void *block); // NULL is fine

// a * b, or a + b, into *out; false (and *out untouched) where that does not fit.
bool zn_mul_size(size_t a, size_t b, size_t *out);
bool zn_add_size(size_t a, size_t b, size_t *out);

static inline size_t zn_round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

// Grows *array (elements of `element` bytes, capacity in *capacity) so that at least `count` fit;
// the new part is zeroed. Keeps the old array on failure.
zenith_status zn_array_reserve(void **array, size_t *capacity, size_t count, size_t element,
                               zn_error *err);

// An arena hands out zeroed memory, aligned for every type of C, and frees it all at once. A zeroed
// arena is an empty one.
typedef struct zn_arena {
    struct zn_arena_block *blocks;
    size_t used; // bytes handed out, with their alignment
} zn_arena;

void *zn_arena_alloc(zn_arena *arena, size_t bytes);    // zeroed; NULL when there is none
char *zn_arena_text(zn_arena *arena, const char *text); // a copy
zenith_status zn_arena_floats(zn_arena *arena, size_t rows, size_t width, float **out,
                              zn_error *err);
void zn_arena_free(zn_arena *arena); // the arena can be used again afterwards

#endif
