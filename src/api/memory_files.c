// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes in memory that stand for a file.
#include "src/api/memory_files.h"

#include "src/base/memory.h"

zenith_status zenith_bytes_create(zenith_bytes **out)
{
    if (!out) return ZENITH_INVALID_ARGUMENT;
    zenith_bytes *bytes = zn_alloc_zero(sizeof *bytes);
    if (!bytes) return ZENITH_OUT_OF_MEMORY;
    *out = bytes;
    return ZENITH_OK;
}

void zenith_bytes_free(zenith_bytes *bytes)
{
    if (!bytes) return;
    zn_bytes_free(&bytes->inner);
    zn_free(bytes);
}

const void *zenith_bytes_get(const zenith_bytes *bytes, size_t *size)
{
    if (size) *size = bytes ? bytes->inner.size : 0;
    return bytes ? bytes->inner.data : NULL;
}

zenith_status zn_place_open(const zn_place *place, zn_writer **out, zn_error *err)
{
    if (place->bytes) return zn_writer_open_bytes(&place->bytes->inner, out, err);
    return zn_writer_open(place->path, out, err);
}
