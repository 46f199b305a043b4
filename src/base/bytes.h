// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes that grow: what a writer writes to where there is no file (zn_writer_open_bytes).
#ifndef ZN_BASE_BYTES_H
#define ZN_BASE_BYTES_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

// A zeroed one is empty.
typedef struct zn_bytes {
    uint8_t *data;
    size_t size, room;
} zn_bytes;

zenith_status zn_bytes_append(zn_bytes *bytes, const void *data, size_t size, zn_error *err);
void zn_bytes_free(zn_bytes *bytes); // and is empty

#endif
