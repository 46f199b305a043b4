// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/pointwise/gaussian_noise.h"

#include "src/base/random.h"

#include <string.h>

void zn_gaussian_noise(uint64_t seed, float number, uint64_t begin, size_t count, float *dst)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t bits, drawn[4];
    float normals[4] = {0};
    memcpy(&bits, &number, sizeof bits);
    for (size_t i = 0; i < count; i++) {
        const uint64_t place = begin + i, block = place / 4;
        if (i == 0 || place % 4 == 0) {
            const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), bits, 0};
            zn_philox4x32(counter, key, drawn);
            zn_philox_normals(drawn, normals);
        }
        dst[i] = normals[place % 4];
    }
}
