// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A merge takes the left symbol's place, and the right symbol dies, so a place means one symbol for
// good. A pair in the heap may have changed since it was put there: its rank then differs from that
// of the pair that is there now, because ranks are unique, and it is passed over.
#include "src/text/bpe.h"

#include "src/base/memory.h"

#define NOWHERE UINT32_MAX

enum { DEAD = -1 };

struct zn_symbol {
    int32_t id;
    uint32_t before, after; // places, or NOWHERE
};

// Each merge takes a pair out and puts at most two in, and there are fewer merges than bytes; so
// three times the bytes is room enough.
static void heap_put(zn_bpe *bpe, uint64_t value)
{
    size_t at = bpe->waiting++;
    while (at > 0 && bpe->heap[(at - 1) / 2] > value) {
        bpe->heap[at] = bpe->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    bpe->heap[at] = value;
}

static uint64_t heap_take(zn_bpe *bpe)
{
    const uint64_t least = bpe->heap[0], moved = bpe->heap[--bpe->waiting];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= bpe->waiting) break;
        if (child + 1 < bpe->waiting && bpe->heap[child + 1] < bpe->heap[child]) child++;
        if (bpe->heap[child] >= moved) break;
        bpe->heap[at] = bpe->heap[child];
        at = child;
    }
    bpe->heap[at] = moved;
    return least;
}

static const zn_merge *merge_at(const zn_bpe *bpe, const zn_vocabulary *vocabulary, uint32_t place)
{
    const struct zn_symbol *symbol = &bpe->symbols[place];
    if (symbol->id == DEAD || symbol->after == NOWHERE) return NULL;
    return zn_vocabulary_merge(vocabulary, symbol->id, bpe->symbols[symbol->after].id);
}

static void offer(zn_bpe *bpe, const zn_vocabulary *vocabulary, uint32_t place)
{
    const zn_merge *merge = place == NOWHERE ? NULL : merge_at(bpe, vocabulary, place);
    if (merge) heap_put(bpe, (uint64_t)merge->rank << 32 | place);
}

static void merge_all(zn_bpe *bpe, const zn_vocabulary *vocabulary)
{
    while (bpe->waiting > 0) {
        const uint64_t pair = heap_take(bpe);
        const uint32_t place = (uint32_t)pair;
        const zn_merge *merge = merge_at(bpe, vocabulary, place);
        if (!merge || merge->rank != pair >> 32) continue;
        struct zn_symbol *left = &bpe->symbols[place], *right = &bpe->symbols[left->after];
        left->id = merge->id;
        left->after = right->after;
        right->id = DEAD;
        if (left->after != NOWHERE) bpe->symbols[left->after].before = place;
        offer(bpe, vocabulary, left->before);
        offer(bpe, vocabulary, place);
    }
}

zenith_status zn_bpe_append(zn_bpe *bpe, int32_t id, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&bpe->ids, &bpe->ids_room, bpe->count + 1, sizeof *bpe->ids,
                            err));
    bpe->ids[bpe->count++] = id;
    return ZENITH_OK;
}

zenith_status zn_bpe_word(zn_bpe *bpe, const zn_vocabulary *vocabulary, const int32_t byte_ids[256],
                          const uint8_t *word, size_t size, zn_error *err)
{
    if (size == 0) return ZENITH_OK;
    if (size == 1) return zn_bpe_append(bpe, byte_ids[word[0]], err);
    if (size > UINT32_MAX / 4) return zn_fail(err, ZENITH_LIMIT, "a word of %zu bytes", size);
    ZN_TRY(zn_array_reserve((void **)&bpe->symbols, &bpe->symbols_room, size, sizeof *bpe->symbols,
                            err));
    ZN_TRY(
        zn_array_reserve((void **)&bpe->heap, &bpe->heap_room, 3 * size, sizeof *bpe->heap, err));
    for (size_t i = 0; i < size; i++)
        bpe->symbols[i] = (struct zn_symbol){.id = byte_ids[word[i]],
                                             .before = i > 0 ? (uint32_t)i - 1 : NOWHERE,
                                             .after = i + 1 < size ? (uint32_t)i + 1 : NOWHERE};
    for (uint32_t i = 0; i + 1 < size; i++) offer(bpe, vocabulary, i);
    merge_all(bpe, vocabulary);
    for (uint32_t i = 0; i != NOWHERE; i = bpe->symbols[i].after)
        ZN_TRY(zn_bpe_append(bpe, bpe->symbols[i].id, err));
    return ZENITH_OK;
}

void zn_bpe_free(zn_bpe *bpe)
{
    zn_free(bpe->ids);
    zn_free(bpe->symbols);
    zn_free(bpe->heap);
    *bpe = (zn_bpe){0};
}
