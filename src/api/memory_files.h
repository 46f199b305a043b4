// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The inside of a zenith_bytes, for the files of api/ that write to it.
#ifndef ZN_API_MEMORY_FILES_H
#define ZN_API_MEMORY_FILES_H

#include "src/base/bytes.h"
#include "src/base/os.h"
#include "zenith/zenith.h"

struct zenith_bytes {
    zn_bytes inner;
};

// Where a call writes to: a path, or memory where that is not NULL.
typedef struct zn_place {
    const char *path;
    zenith_bytes *bytes;
} zn_place;
zenith_status zn_place_open(const zn_place *place, zn_writer **out, zn_error *err);

#endif
