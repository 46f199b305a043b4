// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How often each pair of symbols occurs, and in which words: what training a vocabulary goes by.
//
// The most frequent pair comes from a heap whose entries may be out of date. A count only falls
// between the steps in which its pair is new, so an entry that is out of date is too large: it is
// put back with the true count when it comes up. Of equal counts the smaller ids come first, so the
// order does not depend on how the pairs are stored.
#ifndef ZN_TEXT_PAIR_COUNTS_H
#define ZN_TEXT_PAIR_COUNTS_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct zn_pair {
    int32_t left, right;
    uint64_t count;
    uint32_t places; // the first of its list in `places`, plus one; 0: none
    bool used;
} zn_pair;

typedef struct zn_pair_place {
    uint32_t word, next; // next: as `places`
} zn_pair_place;

typedef struct zn_pair_entry {
    uint64_t count;
    int32_t left, right;
} zn_pair_entry;

// Zeroed at birth.
typedef struct zn_pair_counts {
    zn_pair *pairs; // open addressing, a power of two
    size_t pair_count, slots;
    zn_pair_place *places;
    size_t place_count, places_room;
    zn_pair_entry *heap;
    size_t waiting, heap_room;
} zn_pair_counts;

// Adds to a pair's count. `listed`: the word is noted as one that has the pair.
zenith_status zn_pair_counts_add(zn_pair_counts *counts, int32_t left, int32_t right,
                                 uint64_t number, uint32_t word, bool listed, zn_error *err);
void zn_pair_counts_take(zn_pair_counts *counts, int32_t left, int32_t right, uint64_t number);
// Offers a pair whose count is new.
zenith_status zn_pair_counts_offer(zn_pair_counts *counts, int32_t left, int32_t right,
                                   zn_error *err);
// The most frequent pair, out of the heap; false when there is none.
zenith_status zn_pair_counts_best(zn_pair_counts *counts, zn_pair *out, bool *found, zn_error *err);
void zn_pair_counts_free(zn_pair_counts *counts);

#endif
