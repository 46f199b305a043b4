// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tar archives in memory: the regular files inside, one after the other. Reads POSIX ustar, pax
// headers (path and size), GNU's long names and sizes in base 256, and the format of Unix 7.
// Folders, links and devices are passed over. Nothing is copied but the name.
//
// An archive that is cut off or damaged gives its members up to that point and then a failure with
// the byte position; members that were handed out stay usable.
#ifndef ZN_FORMAT_ARCHIVE_TAR_H
#define ZN_FORMAT_ARCHIVE_TAR_H

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
    // What the members before a file have said about it.
    bool has_name, has_size;
    uint64_t file_size;
    // Of an archive of which data is a part (format/archive/tar_stream.h): bytes before it, and
    // from its beginning on. A file's own bytes may lie behind `data`.
    uint64_t before, whole;
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

// For tar_stream.c: one header, of which *is_file says whether it is a regular file's. *end: there
// are no more.
zenith_status zn_tar_step(zn_tar *tar, zn_tar_member *out, bool *is_file, bool *end, zn_error *err);
// Bytes behind a header of 512 bytes that a step looks at; 0 where it has no such, or is none.
uint64_t zn_tar_looked_at(const uint8_t *header);
// Whether a block with more of a sparse file's map follows on this one, a header or such a block.
bool zn_tar_map_follows(const uint8_t *block, bool is_header);

// --- writing (tar_write.c)
//
// ustar, with a pax record before a name that has no room in its header. Every member is a file of
// user and group 0, mode 644, changed in 1970: the same members give the same bytes.

struct zn_writer;
struct zn_sha256;

typedef struct zn_tar_writer {
    struct zn_writer *file;
    struct zn_sha256 *hash; // of what is written; NULL: not wanted
    uint64_t bytes;         // written so far
    size_t padding;         // of the member that is being written
} zn_tar_writer;

// Begins a member; then come exactly `size` bytes by zn_tar_write_bytes, and zn_tar_write_end.
zenith_status zn_tar_write_member(zn_tar_writer *tar, const char *name, uint64_t size,
                                  zn_error *err);
zenith_status zn_tar_write_bytes(zn_tar_writer *tar, const void *data, size_t size, zn_error *err);
zenith_status zn_tar_write_end(zn_tar_writer *tar, zn_error *err);
// After the last member.
zenith_status zn_tar_write_finish(zn_tar_writer *tar, zn_error *err);

#endif
