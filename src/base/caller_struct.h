// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Structs whose size the caller's header decided. They begin with `size`. An older header has fewer
// fields than ours: the rest is zero, which means the default. A newer one has more: what we do not
// know must be zero.
#ifndef ZN_BASE_CALLER_STRUCT_H
#define ZN_BASE_CALLER_STRUCT_H

#include "src/base/status.h"

// Bytes of a struct up to and with a field: what the first header that had the struct ended with.
#define ZN_SIZE_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

size_t zn_caller_size(const void *theirs); // its `size`

// Copies the caller's struct into ours of `size` bytes, `size` field included. least: bytes that
// every version had. ZENITH_INVALID_ARGUMENT for a `size` that no version had, ZENITH_UNSUPPORTED
// for a field that is set and not known here. theirs NULL: all zero.
zenith_status zn_caller_struct_in(const void *theirs, size_t least, void *ours, size_t size,
                                  zn_error *err);

// The same for element i of an array; elements are as far apart as the first one's `size` says.
zenith_status zn_caller_element_in(const void *array, size_t i, size_t least, void *ours,
                                   size_t size, zn_error *err);

// The other way: writes what the caller's struct has room for, but not its `size`.
void zn_caller_struct_out(const void *ours, size_t size, void *theirs);

#endif
