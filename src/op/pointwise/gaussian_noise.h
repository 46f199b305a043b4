// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The noise of gaussian_sample, which its gradient needs again: drawing it twice is cheaper than a map.
#ifndef ZN_OP_POINTWISE_GAUSSIAN_NOISE_H
#define ZN_OP_POINTWISE_GAUSSIAN_NOISE_H

#include <stddef.h>
#include <stdint.h>

// Normal numbers of the elements [begin, begin + count) of a map, one after the other in memory. Each is a
// pure function of the seed, the bits of `number` and the element's place.
void zn_gaussian_noise(uint64_t seed, float number, uint64_t begin, size_t count, float *dst);

#endif
