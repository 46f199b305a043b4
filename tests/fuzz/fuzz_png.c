// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Nearly every change of a PNG breaks a chunk's checksum, and the decoder stops there. So each
// input is also tried with its checksums set right.
#include "tests/fuzz/picture.h"

static uint32_t checksum(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

// Chunk: length, name, data, checksum of name and data.
static void repair(uint8_t *data, size_t size)
{
    for (size_t at = 8; at <= size && size - at >= 12;) {
        const uint8_t *p = data + at;
        size_t length = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        if (length > size - at - 12) return;
        uint32_t crc = checksum(p + 4, length + 4);
        for (int i = 0; i < 4; i++)
            data[at + 8 + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += 12 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_picture(data, size, ZN_IMAGE_PNG);
    uint8_t *repaired = malloc(size ? size : 1);
    if (!repaired) abort();
    memcpy(repaired, data, size);
    repair(repaired, size);
    fuzz_picture(repaired, size, ZN_IMAGE_PNG);
    free(repaired);
    return 0;
}
