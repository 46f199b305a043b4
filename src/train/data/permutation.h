// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A shuffled order without a table: place k of a permutation of 0 .. count-1 is computed, so any
// thread has any place of any epoch at once, and a resumed run needs nothing but numbers.
#ifndef ZN_TRAIN_DATA_PERMUTATION_H
#define ZN_TRAIN_DATA_PERMUTATION_H

#include <stdint.h>

// What is at place k < count in the order that belongs to (seed, epoch). 0 < count <= 2^62.
uint64_t zn_permutation_at(uint64_t seed, uint64_t epoch, uint64_t count, uint64_t k);

#endif
