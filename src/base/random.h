// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Philox 4x32-10 (Salmon et al., SC 2011), the counter-based generator that CUDA libraries use:
// number i of a seed is a pure function of (seed, i): any thread can make any part of a sequence.
#ifndef ZN_BASE_RANDOM_H
#define ZN_BASE_RANDOM_H

#include <stdint.h>

typedef struct zn_random {
    uint64_t seed;
    uint64_t position; // index of the next 32-bit number
} zn_random;

// The generator itself, for whoever lays out counters differently (CUDA's noise does).
void zn_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
// Numbers 4*block .. 4*block+3 of a seed.
void zn_philox(uint64_t seed, uint64_t block, uint32_t out[4]);

uint32_t zn_random_u32(zn_random *random);
// Uniform in [0, bound), without bias; bound > 0.
uint32_t zn_random_below(zn_random *random, uint32_t bound);
float zn_random_unit(zn_random *random);   // [0, 1), 24 bits
float zn_random_normal(zn_random *random); // Box-Muller, two numbers each
// Four normal numbers from four of the generator's, two by each Box-Muller transform.
void zn_philox_normals(const uint32_t drawn[4], float out[4]);

#endif
