// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A tar archive that comes as a stream: from a file, or from wherever bytes come one after the
// other. Its regular files come in order, and of each its bytes; what is not read is passed over.
// Names, sizes and failures are those of format/archive/tar.h. Memory does not grow with the
// archive.
#ifndef ZN_FORMAT_ARCHIVE_TAR_STREAM_H
#define ZN_FORMAT_ARCHIVE_TAR_STREAM_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The next bytes; *got is less than `size` only at the end of the archive.
typedef zenith_status zn_stream_fn(void *cookie, void *dst, size_t size, size_t *got,
                                   zn_error *err);

typedef struct zn_tar_stream zn_tar_stream;

// bytes: of the whole archive, so that a member that cannot be there is refused before memory is
// asked for; 0: not known.
zenith_status zn_tar_stream_open(zn_stream_fn *read, void *cookie, uint64_t bytes,
                                 zn_tar_stream **out, zn_error *err);
void zn_tar_stream_free(zn_tar_stream *stream); // NULL is fine

// The next file: its name, valid until the next call, and its bytes. *found false: that was the
// last.
zenith_status zn_tar_stream_next(zn_tar_stream *stream, const char **name, uint64_t *size,
                                 bool *found, zn_error *err);
// All of the file's bytes, or the next of them: at most as many as are left.
zenith_status zn_tar_stream_read(zn_tar_stream *stream, void *dst, size_t size, zn_error *err);

#endif
