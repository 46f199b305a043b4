// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/text/pair_counts.h"

#include "src/base/memory.h"

static zn_pair *find(const zn_pair_counts *counts, int32_t left, int32_t right)
{
    uint64_t h = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * 0x9e3779b97f4a7c15u;
    for (size_t slot = (h ^ h >> 32) & (counts->slots - 1);;
         slot = (slot + 1) & (counts->slots - 1)) {
        zn_pair *pair = &counts->pairs[slot];
        if (!pair->used || (pair->left == left && pair->right == right)) return pair;
    }
}

static zenith_status grow(zn_pair_counts *counts, zn_error *err)
{
    zn_pair_counts larger = {.slots = counts->slots ? counts->slots * 2 : 1024};
    size_t bytes;
    if (!zn_mul_size(larger.slots, sizeof *larger.pairs, &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    larger.pairs = zn_alloc_zero(bytes);
    if (!larger.pairs) return zn_fail_memory(err, bytes);
    for (size_t i = 0; i < counts->slots; i++)
        if (counts->pairs[i].used)
            *find(&larger, counts->pairs[i].left, counts->pairs[i].right) = counts->pairs[i];
    zn_free(counts->pairs);
    counts->pairs = larger.pairs;
    counts->slots = larger.slots;
    return ZENITH_OK;
}

static zenith_status note_place(zn_pair_counts *counts, zn_pair *pair, uint32_t word, zn_error *err)
{
    // A word's pairs are added one after the other, so a word that has the pair twice is the last
    // noted.
    if (pair->places && counts->places[pair->places - 1].word == word) return ZENITH_OK;
    if (counts->place_count >= UINT32_MAX - 1)
        return zn_fail(err, ZENITH_LIMIT, "too many words to train on");
    ZN_TRY(zn_array_reserve((void **)&counts->places, &counts->places_room, counts->place_count + 1,
                            sizeof *counts->places, err));
    counts->places[counts->place_count++] = (zn_pair_place){.word = word, .next = pair->places};
    pair->places = (uint32_t)counts->place_count;
    return ZENITH_OK;
}

zenith_status zn_pair_counts_add(zn_pair_counts *counts, int32_t left, int32_t right,
                                 uint64_t number, uint32_t word, bool listed, zn_error *err)
{
    if (counts->pair_count * 2 >= counts->slots) ZN_TRY(grow(counts, err));
    zn_pair *pair = find(counts, left, right);
    if (!pair->used) {
        *pair = (zn_pair){.left = left, .right = right, .used = true};
        counts->pair_count++;
    }
    pair->count += number;
    return listed ? note_place(counts, pair, word, err) : ZENITH_OK;
}

void zn_pair_counts_take(zn_pair_counts *counts, int32_t left, int32_t right, uint64_t number)
{
    zn_pair *pair = find(counts, left, right);
    pair->count -= number < pair->count ? number : pair->count;
}

static bool before(const zn_pair_entry *a, const zn_pair_entry *b)
{
    if (a->count != b->count) return a->count > b->count;
    return a->left != b->left ? a->left < b->left : a->right < b->right;
}

static zenith_status put(zn_pair_counts *counts, zn_pair_entry entry, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&counts->heap, &counts->heap_room, counts->waiting + 1,
                            sizeof *counts->heap, err));
    size_t at = counts->waiting++;
    while (at > 0 && before(&entry, &counts->heap[(at - 1) / 2])) {
        counts->heap[at] = counts->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    counts->heap[at] = entry;
    return ZENITH_OK;
}

static zn_pair_entry take(zn_pair_counts *counts)
{
    const zn_pair_entry first = counts->heap[0], moved = counts->heap[--counts->waiting];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= counts->waiting) break;
        if (child + 1 < counts->waiting && before(&counts->heap[child + 1], &counts->heap[child]))
            child++;
        if (!before(&counts->heap[child], &moved)) break;
        counts->heap[at] = counts->heap[child];
        at = child;
    }
    counts->heap[at] = moved;
    return first;
}

zenith_status zn_pair_counts_offer(zn_pair_counts *counts, int32_t left, int32_t right,
                                   zn_error *err)
{
    const zn_pair *pair = find(counts, left, right);
    if (!pair->used || pair->count == 0) return ZENITH_OK;
    return put(counts, (zn_pair_entry){.count = pair->count, .left = left, .right = right}, err);
}

zenith_status zn_pair_counts_best(zn_pair_counts *counts, zn_pair *out, bool *found, zn_error *err)
{
    *found = false;
    while (counts->waiting > 0) {
        const zn_pair_entry entry = take(counts);
        const zn_pair *pair = find(counts, entry.left, entry.right);
        if (pair->count == entry.count) {
            *out = *pair;
            *found = true;
            return ZENITH_OK;
        }
        // Too large: back with what it is. (Too small: another entry of the pair has come up
        // already.)
        if (pair->count > 0 && pair->count < entry.count)
            ZN_TRY(zn_pair_counts_offer(counts, entry.left, entry.right, err));
    }
    return ZENITH_OK;
}

void zn_pair_counts_free(zn_pair_counts *counts)
{
    zn_free(counts->pairs);
    zn_free(counts->places);
    zn_free(counts->heap);
    *counts = (zn_pair_counts){0};
}
