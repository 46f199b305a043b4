// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/text/added_tokens.h"

#include "src/base/memory.h"

#include <stdlib.h>
#include <string.h>

zenith_status zn_added_tokens_add(zn_added_tokens *set, const char *text, size_t size, int32_t id,
                                  zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&set->tokens, &set->room, set->count + 1, sizeof *set->tokens,
                            err));
    char *copy = zn_alloc(size);
    if (!copy) return zn_fail_memory(err, size);
    memcpy(copy, text, size);
    set->tokens[set->count++] = (zn_added){.text = copy, .size = size, .id = id};
    return ZENITH_OK;
}

// Byte order; what another begins with comes before it.
static int compare(const void *left, const void *right)
{
    const zn_added *a = left, *b = right;
    const int order = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
    if (order) return order;
    return (a->size > b->size) - (a->size < b->size);
}

zenith_status zn_added_tokens_finish(zn_added_tokens *set, zn_error *err)
{
    if (set->count > 1) qsort(set->tokens, set->count, sizeof *set->tokens, compare);
    for (size_t i = 0; i < set->count; i++) {
        if (i > 0 && compare(&set->tokens[i - 1], &set->tokens[i]) == 0)
            return zn_fail(err, ZENITH_BAD_FILE, "the added tokens %d and %d have the same text",
                           set->tokens[i - 1].id, set->tokens[i].id);
        set->first[(uint8_t)set->tokens[i].text[0] + 1]++;
    }
    for (size_t b = 0; b < 256; b++) set->first[b + 1] += set->first[b];
    return ZENITH_OK;
}

void zn_added_tokens_free(zn_added_tokens *set)
{
    for (size_t i = 0; i < set->count; i++) zn_free(set->tokens[i].text);
    zn_free(set->tokens);
    *set = (zn_added_tokens){0};
}

// Of the tokens [*begin, *end), which agree in their first `depth` bytes and are longer than that,
// those whose next byte is `byte`.
static void narrow(const zn_added_tokens *set, size_t *begin, size_t *end, size_t depth,
                   uint8_t byte)
{
    size_t low = *begin, high = *end;
    while (low < high) { // the first whose byte is not smaller
        const size_t middle = low + (high - low) / 2;
        if ((uint8_t)set->tokens[middle].text[depth] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    *begin = low;
    high = *end;
    while (low < high) { // the first whose byte is larger
        const size_t middle = low + (high - low) / 2;
        if ((uint8_t)set->tokens[middle].text[depth] <= byte)
            low = middle + 1;
        else
            high = middle;
    }
    *end = low;
}

static const zn_added *longest(const zn_added_tokens *set, const char *text, size_t size)
{
    const zn_added *best = NULL;
    size_t begin = set->first[(uint8_t)text[0]], end = set->first[(uint8_t)text[0] + 1];
    for (size_t depth = 1; begin < end; depth++) {
        if (set->tokens[begin].size == depth) best = &set->tokens[begin++];
        if (depth == size) break;
        narrow(set, &begin, &end, depth, (uint8_t)text[depth]);
    }
    return best;
}

const zn_added *zn_added_tokens_search(const zn_added_tokens *set, const char *text, size_t size,
                                       size_t *at)
{
    if (set->count == 0) return NULL;
    for (size_t i = 0; i < size; i++) {
        const zn_added *token = longest(set, text + i, size - i);
        if (token) {
            *at = i;
            return token;
        }
    }
    return NULL;
}
