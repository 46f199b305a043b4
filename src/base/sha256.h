// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4): names weights and calibrations by content.
#ifndef ZN_BASE_SHA256_H
#define ZN_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct zn_sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
} zn_sha256;

void zn_sha256_begin(zn_sha256 *hash);
void zn_sha256_add(zn_sha256 *hash, const void *data, size_t size);
void zn_sha256_end(zn_sha256 *hash, char hex[65]); // lower-case digits and a closing zero

#endif
