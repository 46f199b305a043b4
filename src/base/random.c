// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/base/random.h"

#include <math.h>
#include <stdbool.h>

enum { ROUNDS = 10 };

void zn_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t left = (uint64_t)0xd2511f53u * c0, right = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(right >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(left >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)right;
        c3 = (uint32_t)left;
        k0 += 0x9e3779b9u; // the golden ratio
        k1 += 0xbb67ae85u; // sqrt(3) - 1
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void zn_philox(uint64_t seed, uint64_t block, uint32_t out[4])
{
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    zn_philox4x32(counter, key, out);
}

uint32_t zn_random_u32(zn_random *random)
{
    uint32_t block[4];
    zn_philox(random->seed, random->position / 4, block);
    return block[random->position++ % 4];
}

uint32_t zn_random_below(zn_random *random, uint32_t bound)
{
    // The high half of number * bound is the result; the low halves under 2^32 mod bound are what
    // would make some results likelier, so they are drawn again (Lemire 2019).
    uint32_t unfair = (0u - bound) % bound;
    while (true) {
        uint64_t product = (uint64_t)zn_random_u32(random) * bound;
        if ((uint32_t)product >= unfair) return (uint32_t)(product >> 32);
    }
}

float zn_random_unit(zn_random *random)
{
    return (float)(zn_random_u32(random) >> 8) * 0x1p-24f;
}

float zn_random_normal(zn_random *random)
{
    // (0, 1] for the radius, so that the logarithm is finite. In double: the bits then hardly
    // depend on whose mathematics library it is.
    double radius = ((double)zn_random_u32(random) + 1) * 0x1p-32;
    double angle = (double)zn_random_u32(random) * 0x1p-32;
    return (float)(sqrt(-2 * log(radius)) * cos(6.283185307179586 * angle));
}

void zn_philox_normals(const uint32_t drawn[4], float out[4])
{
    for (int i = 0; i < 4; i += 2) {
        double radius = sqrt(-2 * log(((double)drawn[i] + 1) * 0x1p-32));
        double angle = 6.283185307179586 * 0x1p-32 * (double)drawn[i + 1];
        out[i] = (float)(radius * cos(angle));
        out[i + 1] = (float)(radius * sin(angle));
    }
}
