// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A Feistel network over 2h bits is a permutation of 0 .. 4^h - 1, whatever its round function;
// ours is Philox, keyed by the seed, with half, round and epoch as the counter. What falls behind
// `count` goes through again until it does not ("cycle walking"): that is a permutation of 0 ..
// count-1. 4^h is less than 4 * count, so a few walks are enough.
#include "src/train/data/permutation.h"

#include "src/base/random.h"

// Four rounds of a good function look random; more of them cost little and help very small halves.
// Halves of a bit or two have so few functions that orders would repeat, hence the least.
enum { ROUNDS = 6, LEAST_HALF = 4 };

static uint64_t scramble(uint64_t value, int half_bits, uint64_t seed, uint64_t epoch)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t mask = (uint32_t)(((uint64_t)1 << half_bits) - 1);
    uint32_t left = (uint32_t)(value >> half_bits), right = (uint32_t)value & mask;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t counter[4] = {right, round, (uint32_t)epoch, (uint32_t)(epoch >> 32)};
        uint32_t out[4];
        zn_philox4x32(counter, key, out);
        uint32_t mixed = left ^ (out[0] & mask);
        left = right;
        right = mixed;
    }
    return (uint64_t)left << half_bits | right;
}

uint64_t zn_permutation_at(uint64_t seed, uint64_t epoch, uint64_t count, uint64_t k)
{
    int half_bits = LEAST_HALF;
    while ((uint64_t)1 << (2 * half_bits) < count) half_bits++;
    do k = scramble(k, half_bits, seed, epoch);
    while (k >= count);
    return k;
}
