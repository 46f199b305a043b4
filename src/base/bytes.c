// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/base/bytes.h"

#include "src/base/memory.h"

#include <string.h>

static zenith_status grow(zn_bytes *bytes, size_t least, zn_error *err)
{
    enum { SMALLEST = 64 << 10 };
    size_t room = bytes->room < SMALLEST ? SMALLEST : bytes->room;
    while (room < least)
        if (!zn_mul_size(room, 2, &room)) return zn_fail_memory(err, least);
    uint8_t *data = zn_alloc(room);
    if (!data) return zn_fail_memory(err, room);
    if (bytes->size) memcpy(data, bytes->data, bytes->size);
    zn_free(bytes->data);
    bytes->data = data;
    bytes->room = room;
    return ZENITH_OK;
}

zenith_status zn_bytes_append(zn_bytes *bytes, const void *data, size_t size, zn_error *err)
{
    size_t least;
    if (size == 0) return ZENITH_OK;
    if (!zn_add_size(bytes->size, size, &least)) return zn_fail_memory(err, size);
    if (least > bytes->room) ZN_TRY(grow(bytes, least, err));
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size = least;
    return ZENITH_OK;
}

void zn_bytes_free(zn_bytes *bytes)
{
    zn_free(bytes->data);
    *bytes = (zn_bytes){0};
}
