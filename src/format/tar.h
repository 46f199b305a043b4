// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tar archives in memory: the regular files inside, one after the other. Reads POSIX ustar, pax
// headers (path and size), GNU's long names and sizes in base 256, and the format of Unix 7.
// Folders, links and devices are passed over. Nothing is copied but the name.
//
// An archive that is cut off or damaged gives its members up to that point and then a failure with
// the byte position; members that were handed out stay usable.
#ifndef ZN_FORMAT_TAR_H
#define ZN_FORMAT_TAR_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZN_TAR_NAME = 4096 }; // bytes of the longest name, with its closing zero

typedef struct zn_tar {
    const uint8_t *data;
    size_t size;
    size_t position; // of the next header
    char name[ZN_TAR_NAME];
} zn_tar;

typedef struct zn_tar_member {
    const char *name; // lies in the zn_tar, until the next call
    size_t offset;    // of its first byte
    size_t size;      // offset + size lies within the archive
} zn_tar_member;

// `data` stays valid and unchanged while the archive is read.
void zn_tar_begin(zn_tar *tar, const uint8_t *data, size_t size);
// The next regular file; *found is false at the end. Not to be called after a failure.
zenith_status zn_tar_next(zn_tar *tar, zn_tar_member *out, bool *found, zn_error *err);

#endif
