// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole vectors, and what is left at the end by the specification. See masked_sum.h.
#include "src/kernel/pointwise/masked_sum.h"

#include "src/kernel/vector.h"

#ifdef ZN_BASELINE // the specification

void zn_masked_sum_reference(zn_type type, const void *a, const void *b, const void *y, void *dst,
                             size_t count)
{
    const size_t size = zn_type_size(type);
    for (size_t i = 0; i < count; i++) {
        const bool positive = !y || zn_type_load(type, y, i) > 0;
        if (positive && !b)
            memmove((char *)dst + i * size, (const char *)a + i * size, size);
        else
            zn_type_store(type, dst, i,
                          positive ? zn_type_load(type, a, i) + zn_type_load(type, b, i) : 0.0f);
    }
}

#endif

static inline vec vec_load_map(zn_type type, const void *src, size_t at)
{
    return type == ZN_F32 ? vec_load_f32((const float *)src + at)
                          : vec_load_bf16((const uint16_t *)src + at);
}

// Whole vectors; the type is a constant where this is inlined. Returns how many elements they are.
static inline __attribute__((always_inline)) size_t
masked_sum_whole(zn_type type, const void *a, const void *b, const void *y, void *dst, size_t count)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        vec value = vec_load_map(type, a, i);
        if (b) value = vec_add(value, vec_load_map(type, b, i));
        if (y) value = vec_where_positive(vec_load_map(type, y, i), value);
        if (type == ZN_F32)
            vec_store_f32((float *)dst + i, value);
        else
            vec_store_bf16((uint16_t *)dst + i, value);
    }
    return i;
}

static size_t mask_bf16(const uint16_t *a, const uint16_t *y, uint16_t *dst, size_t count)
{
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) vec_where_positive_bf16(y + i, a + i, dst + i);
    return i;
}

void VERSION(zn_masked_sum)(zn_type type, const void *a, const void *b, const void *y, void *dst,
                            size_t count)
{
    const size_t size = type == ZN_F32 ? sizeof(float) : sizeof(uint16_t);
    size_t done;
    if (type == ZN_BF16 && y && !b)
        done = mask_bf16(a, y, dst, count);
    else if (type == ZN_BF16)
        done = masked_sum_whole(ZN_BF16, a, b, y, dst, count);
    else
        done = masked_sum_whole(ZN_F32, a, b, y, dst, count);
    const size_t at = done * size;
    zn_masked_sum_reference(type, (const char *)a + at, b ? (const char *)b + at : NULL,
                            y ? (const char *)y + at : NULL, (char *)dst + at, count - done);
}
