// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The algorithm as FIPS 180-4 writes it: 64 rounds on blocks of 64 bytes.
#include "src/base/sha256.h"

#include <string.h>

static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t value, int bits)
{
    return value >> bits | value << (32 - bits);
}

static void schedule(uint32_t w[64], const uint8_t block[64])
{
    for (int i = 0; i < 16; i++, block += 4) {
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               (uint32_t)block[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

static void compress(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64];
    schedule(w, block);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i];
        uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t add[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) state[i] += add[i];
}

void zn_sha256_begin(zn_sha256 *hash)
{
    *hash = (zn_sha256){0};
    memcpy(hash->state, initial, sizeof initial);
}

void zn_sha256_add(zn_sha256 *hash, const void *data, size_t size)
{
    const uint8_t *src = data;
    while (size > 0) {
        size_t filled = hash->length % 64;
        size_t part = size < 64 - filled ? size : 64 - filled;
        if (part == 64) {
            compress(hash->state, src);
        } else {
            memcpy(hash->block + filled, src, part);
            if (filled + part == 64) compress(hash->state, hash->block);
        }
        hash->length += part;
        src += part;
        size -= part;
    }
}

void zn_sha256_end(zn_sha256 *hash, char hex[65])
{
    // One bit, zeros up to 8 bytes before a block's end, the length in bits, highest byte first.
    const uint8_t padding[64] = {0x80};
    uint64_t bits = hash->length * 8;
    zn_sha256_add(hash, padding, 1 + (119 - hash->length % 64) % 64);
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    zn_sha256_add(hash, length, sizeof length);
    for (int i = 0; i < 64; i++) {
        hex[i] = "0123456789abcdef"[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    }
    hex[64] = '\0';
}
