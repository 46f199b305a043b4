// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// rotation.h in plain loops, of which compilers make vectors.
#include "src/kernel/linear/rotation.h"

#include "src/kernel/vector.h"

#ifdef ZN_BASELINE // once

bool zn_rotation_fits(int64_t count, int64_t group)
{
    for (int64_t power = 4; power <= ZN_ROTATION_MOST; power *= 4)
        if (power == group) return count % group == 0;
    return false;
}

#endif

// H with the numbers that are `step` apart; `step` is a constant at each call.
static inline __attribute__((always_inline)) void rotation_pass(float *values, int64_t count,
                                                                const int64_t step)
{
    for (int64_t at = 0; at < count; at += 4 * step) {
        float *restrict first = values + at;
        for (int64_t i = 0; i < step; i++) {
            const float a = first[i], b = first[i + step];
            const float c = first[i + 2 * step], d = first[i + 3 * step];
            const float sum = a + b, less = a - b, sum2 = c + d, less2 = c - d;
            first[i] = sum + less2;
            first[i + step] = sum - less2;
            first[i + 2 * step] = sum2 + less;
            first[i + 3 * step] = sum2 - less;
        }
    }
}

// The root of a power of four is a power of two: products with its inverse are exact.
void VERSION(zn_rotation)(float *values, int64_t count, int64_t group)
{
    float inverse = 1;
    for (int64_t n = group; n > 1; n /= 4) inverse /= 2;
    rotation_pass(values, count, 1);
    if (group >= 16) rotation_pass(values, count, 4);
    if (group >= 64) rotation_pass(values, count, 16);
    if (group >= 256) rotation_pass(values, count, 64);
    if (group >= 1024) rotation_pass(values, count, 256);
    for (int64_t i = 0; i < count; i++) values[i] *= inverse;
}
