// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/text/vocabulary.h"

#include "src/base/memory.h"
#include "src/base/os.h"

#include <string.h>

#define NO_RANK UINT32_MAX

static uint64_t mix(uint64_t h)
{
    const uint64_t odd = 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    h *= odd;
    h ^= h >> 32;
    h *= odd;
    return h ^ h >> 32;
}

static uint64_t hash_bytes(uint64_t seed, const uint8_t *bytes, size_t size, bool literal)
{
    uint64_t h = mix(seed ^ size ^ (literal ? (uint64_t)1 << 40 : 0));
    while (size > 0) {
        uint64_t word = 0;
        const size_t part = size < 8 ? size : 8;
        memcpy(&word, bytes, part);
        h = mix(h ^ word);
        bytes += part;
        size -= part;
    }
    return h;
}

static uint64_t hash_pair(uint64_t seed, int32_t left, int32_t right)
{
    return mix(mix(seed ^ (uint32_t)left) ^ (uint32_t)right);
}

// At least half of the slots stay empty, so that every search ends soon.
static size_t slots_for(size_t count)
{
    size_t slots = 16;
    while (slots < count * 2) slots *= 2;
    return slots;
}

zenith_status zn_vocabulary_init(zn_vocabulary *vocabulary, size_t tokens, size_t merges,
                                 zn_error *err)
{
    if (tokens > (size_t)ZN_VOCABULARY_IDS_MOST || merges > (size_t)ZN_VOCABULARY_IDS_MOST * 2)
        return zn_fail(
            err, ZENITH_BAD_FILE,
            "a vocabulary of %zu tokens and %zu merges, and the limits are %lld and %lld", tokens,
            merges, (long long)ZN_VOCABULARY_IDS_MOST, (long long)ZN_VOCABULARY_IDS_MOST * 2);
    const size_t slots = slots_for(tokens), pairs = slots_for(merges);
    vocabulary->slots = zn_alloc_zero(slots * sizeof *vocabulary->slots);
    if (!vocabulary->slots) return zn_fail_memory(err, slots * sizeof *vocabulary->slots);
    vocabulary->merges = zn_alloc(pairs * sizeof *vocabulary->merges);
    if (!vocabulary->merges) return zn_fail_memory(err, pairs * sizeof *vocabulary->merges);
    for (size_t i = 0; i < pairs; i++) vocabulary->merges[i] = (zn_merge){.rank = NO_RANK};
    vocabulary->slots_mask = slots - 1;
    vocabulary->merges_mask = pairs - 1;
    vocabulary->tokens_most = tokens;
    vocabulary->merges_most = merges;
    vocabulary->seed = mix((uint64_t)(uintptr_t)vocabulary->slots ^
                           mix((uint64_t)(zn_clock_seconds() * 1e9) ^ zn_process_id()));
    return ZENITH_OK;
}

void zn_vocabulary_free(zn_vocabulary *vocabulary)
{
    zn_free(vocabulary->tokens);
    zn_free(vocabulary->bytes);
    zn_free(vocabulary->slots);
    zn_free(vocabulary->merges);
    *vocabulary = (zn_vocabulary){0};
}

// The slot of this content, or the empty one where it would be.
static size_t find_slot(const zn_vocabulary *vocabulary, const void *bytes, size_t size,
                        bool literal)
{
    size_t slot = hash_bytes(vocabulary->seed, bytes, size, literal) & vocabulary->slots_mask;
    for (;; slot = (slot + 1) & vocabulary->slots_mask) {
        const int32_t there = vocabulary->slots[slot];
        if (there == 0) return slot;
        const zn_token *token = &vocabulary->tokens[there - 1];
        if (token->size == size && token->literal == literal &&
            memcmp(vocabulary->bytes + token->offset, bytes, size) == 0)
            return slot;
    }
}

int32_t zn_vocabulary_find(const zn_vocabulary *vocabulary, const void *bytes, size_t size,
                           bool literal)
{
    if (size == 0 || size > ZN_VOCABULARY_TOKEN_MOST) return -1;
    return vocabulary->slots[find_slot(vocabulary, bytes, size, literal)] - 1;
}

const zn_token *zn_vocabulary_get(const zn_vocabulary *vocabulary, int64_t id)
{
    if (id < 0 || (uint64_t)id >= vocabulary->count) return NULL;
    const zn_token *token = &vocabulary->tokens[id];
    return token->size > 0 ? token : NULL;
}

static zenith_status check_token(const zn_vocabulary *vocabulary, size_t size, int64_t id,
                                 zn_error *err)
{
    if (id < 0 || id >= ZN_VOCABULARY_IDS_MOST)
        return zn_fail(err, ZENITH_BAD_FILE, "token id %lld, and ids are 0 to %lld", (long long)id,
                       (long long)ZN_VOCABULARY_IDS_MOST - 1);
    if (size == 0 || size > ZN_VOCABULARY_TOKEN_MOST)
        return zn_fail(err, ZENITH_BAD_FILE, "token %lld has %zu bytes, and a token has 1 to %d",
                       (long long)id, size, ZN_VOCABULARY_TOKEN_MOST);
    if (zn_vocabulary_get(vocabulary, id))
        return zn_fail(err, ZENITH_BAD_FILE, "two tokens have the id %lld", (long long)id);
    if (vocabulary->tokens_kept == vocabulary->tokens_most)
        return zn_fail(err, ZENITH_INTERNAL, "more tokens than were counted");
    return ZENITH_OK;
}

zenith_status zn_vocabulary_add(zn_vocabulary *vocabulary, const void *bytes, size_t size,
                                bool literal, int64_t id, zn_error *err)
{
    ZN_TRY(check_token(vocabulary, size, id, err));
    const size_t slot = find_slot(vocabulary, bytes, size, literal);
    if (vocabulary->slots[slot])
        return zn_fail(err, ZENITH_BAD_FILE, "the tokens %d and %lld have the same content",
                       vocabulary->slots[slot] - 1, (long long)id);
    ZN_TRY(zn_array_reserve((void **)&vocabulary->tokens, &vocabulary->tokens_room, (size_t)id + 1,
                            sizeof *vocabulary->tokens, err));
    ZN_TRY(zn_array_reserve((void **)&vocabulary->bytes, &vocabulary->bytes_room,
                            vocabulary->used + size, 1, err));
    memcpy(vocabulary->bytes + vocabulary->used, bytes, size);
    vocabulary->tokens[id] = (zn_token){
        .offset = (uint32_t)vocabulary->used, .size = (uint32_t)size, .literal = literal};
    vocabulary->used += size;
    vocabulary->slots[slot] = (int32_t)id + 1;
    vocabulary->tokens_kept++;
    if ((size_t)id >= vocabulary->count) vocabulary->count = (size_t)id + 1;
    return ZENITH_OK;
}

static zn_merge *find_pair(const zn_vocabulary *vocabulary, int32_t left, int32_t right)
{
    size_t slot = hash_pair(vocabulary->seed, left, right) & vocabulary->merges_mask;
    for (;; slot = (slot + 1) & vocabulary->merges_mask) {
        zn_merge *merge = &vocabulary->merges[slot];
        if (merge->rank == NO_RANK || (merge->left == left && merge->right == right)) return merge;
    }
}

const zn_merge *zn_vocabulary_merge(const zn_vocabulary *vocabulary, int32_t left, int32_t right)
{
    const zn_merge *merge = find_pair(vocabulary, left, right);
    return merge->rank == NO_RANK ? NULL : merge;
}

zenith_status zn_vocabulary_add_merge(zn_vocabulary *vocabulary, int32_t left, int32_t right,
                                      uint32_t rank, zn_error *err)
{
    uint8_t joined[2 * ZN_VOCABULARY_TOKEN_MOST];
    const zn_token *first = zn_vocabulary_get(vocabulary, left);
    const zn_token *second = zn_vocabulary_get(vocabulary, right);
    if (!first || !second || first->literal || second->literal)
        return zn_fail(err, ZENITH_BAD_FILE, "merge %u is not of two tokens", rank);
    memcpy(joined, vocabulary->bytes + first->offset, first->size);
    memcpy(joined + first->size, vocabulary->bytes + second->offset, second->size);
    const int32_t id = zn_vocabulary_find(vocabulary, joined, first->size + second->size, false);
    if (id < 0)
        return zn_fail(
            err, ZENITH_BAD_FILE,
            "merge %u joins the tokens %d and %d to one that the vocabulary does not have", rank,
            left, right);
    zn_merge *merge = find_pair(vocabulary, left, right);
    if (merge->rank != NO_RANK)
        return zn_fail(err, ZENITH_BAD_FILE, "the merges %u and %u are the same", merge->rank,
                       rank);
    if (vocabulary->merge_count == vocabulary->merges_most)
        return zn_fail(err, ZENITH_INTERNAL, "more merges than were counted");
    *merge = (zn_merge){.left = left, .right = right, .id = id, .rank = rank};
    vocabulary->merge_count++;
    return ZENITH_OK;
}
