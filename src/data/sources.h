// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The pictures of a training set, as a list: those of folders (with the folders inside, in byte
// order of the names), of tar archives (WebDataset: every member that is a picture), of LMDB
// databases (data.mdb), and single files. The list is the same on every machine that has the same
// files. What is a picture is told by the name's ending (format/image/image.h), in a database by
// its first bytes; names that begin with a dot are passed over.
//
// Reading is for any number of threads at once; nothing here changes after open.
#ifndef ZN_DATA_SOURCES_H
#define ZN_DATA_SOURCES_H

#include "src/base/status.h"
#include "src/format/image/image.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_sources zn_sources;

// Told of what cannot be used: a file, or an archive that is cut off; why, in a sentence.
typedef void zn_skip_fn(void *cookie, const char *name, const char *reason);

// A path that does not exist, or is neither folder nor picture nor tar nor database, is a failure,
// and so is a list without any picture. An archive that is cut off keeps the members before the cut
// and is told to `skip`, as are files that cannot be opened and, inside folders, archives that are
// none. skip may be NULL.
zenith_status zn_sources_open(const char *const *paths, size_t paths_count, zn_skip_fn *skip,
                              void *cookie, zn_sources **out, zn_error *err);
void zn_sources_free(zn_sources *sources); // NULL is fine

size_t zn_sources_count(const zn_sources *sources); // pictures, numbered from 0
// "FOLDER/sub/a.jpg", "FOLDER/b.tar:sub/a.jpg"
const char *zn_sources_name(const zn_sources *sources, size_t number);
// SHA-256 over the names, from each source's own folder on, and the sizes: 64 digits. The same
// pictures in another place have the same one.
const char *zn_sources_checksum(const zn_sources *sources);

// The whole picture, decoded. A file that is gone or has another size than it had at open is
// ZENITH_IO or ZENITH_NOT_FOUND: the set is another one now.
zenith_status zn_sources_read(const zn_sources *sources, size_t number,
                              const zn_image_options *options, zn_image_pixels *out, zn_error *err);

#endif
