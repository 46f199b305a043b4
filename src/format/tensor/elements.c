// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/tensor/elements.h"

#include <string.h>

enum { CHUNK = 256 }; // elements moved at a time through an aligned buffer

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files of tensors are little-endian and are read in place"
#endif

// bf16 is what large checkpoints are made of: a plain loop that the compiler can vectorise.
static void bf16_to_f32(const uint8_t *src, size_t count, float *dst)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, src + 2 * i, sizeof bits);
        dst[i] = zn_bf16_to_f32(bits);
    }
}

void zn_elements_to_f32(zn_type type, const uint8_t *data, size_t first, size_t count, float *dst)
{
    if (count == 0) return;
    size_t size = zn_type_size(type);
    const uint8_t *src = data + first * size;
    if (type == ZN_F32) {
        memcpy(dst, src, count * size);
        return;
    }
    if (type == ZN_BF16) {
        bf16_to_f32(src, count, dst);
        return;
    }
    uint64_t aligned[CHUNK];
    for (size_t done = 0; done < count;) {
        size_t part = count - done < CHUNK ? count - done : CHUNK;
        memcpy(aligned, src + done * size, part * size);
        for (size_t i = 0; i < part; i++) dst[done + i] = zn_type_load(type, aligned, i);
        done += part;
    }
}

void zn_elements_from_f32(zn_type type, const float *src, size_t count, uint8_t *dst)
{
    if (count == 0) return;
    size_t size = zn_type_size(type);
    if (type == ZN_F32) {
        memcpy(dst, src, count * size);
        return;
    }
    uint64_t aligned[CHUNK];
    for (size_t done = 0; done < count;) {
        size_t part = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < part; i++) zn_type_store(type, aligned, i, src[done + i]);
        memcpy(dst + done * size, aligned, part * size);
        done += part;
    }
}
