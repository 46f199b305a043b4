// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The loop over an array around vector_exp.h.
#include "src/kernel/pointwise/exp.h"

#include "src/kernel/pointwise/vector_exp.h"
#include "src/kernel/vector.h"

#include <string.h>

void VERSION(zn_exp)(const float *src, float shift, float *dst, size_t count)
{
    const vec by = vec_set1(shift);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        vec_store_f32(dst + i, vec_exp(vec_sub(vec_load_f32(src + i), by)));
    }
    if (i == count) return;
    float rest[LANES] = {0};
    memcpy(rest, src + i, (count - i) * sizeof *src);
    vec_store_f32(rest, vec_exp(vec_sub(vec_load_f32(rest), by)));
    memcpy(dst + i, rest, (count - i) * sizeof *dst);
}
