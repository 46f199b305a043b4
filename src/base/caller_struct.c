// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/base/caller_struct.h"

#include <stdint.h>
#include <string.h>

enum { MOST = 4096 }; // no struct will grow as large: a `size` beyond it was never set

size_t zn_caller_size(const void *theirs)
{
    size_t size;
    memcpy(&size, theirs, sizeof size);
    return size;
}

zenith_status zn_caller_struct_in(const void *theirs, size_t least, void *ours, size_t size,
                                  zn_error *err)
{
    memset(ours, 0, size);
    if (!theirs) return ZENITH_OK;
    const size_t given = zn_caller_size(theirs);
    if (given < least || given > MOST) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a struct has size %zu: set its `size` field to sizeof", given);
    }
    for (size_t i = size; i < given; i++) {
        if (((const uint8_t *)theirs)[i] == 0) continue;
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "a struct sets a field that this version of the library does not know, at "
                       "byte %zu",
                       i);
    }
    memcpy(ours, theirs, given < size ? given : size);
    return ZENITH_OK;
}

zenith_status zn_caller_element_in(const void *array, size_t i, size_t least, void *ours,
                                   size_t size, zn_error *err)
{
    const size_t stride = zn_caller_size(array);
    ZN_TRY(zn_caller_struct_in((const uint8_t *)array + i * stride, least, ours, size, err));
    if (zn_caller_size(ours) == stride) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "elements 0 and %zu of an array differ in `size`",
                   i);
}

void zn_caller_struct_out(const void *ours, size_t size, void *theirs)
{
    const size_t given = zn_caller_size(theirs), head = sizeof given;
    const size_t kept = given < size ? given : size;
    if (kept <= head) return;
    memcpy((char *)theirs + head, (const char *)ours + head, kept - head);
}
