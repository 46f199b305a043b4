// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of a dataset, wherever they are: a path with the scheme of the caller's storage is an
// object of it, any other a file. storage NULL: all are files. Both are put in place whole or not
// at all, both can be made by one alone, and both have an age by the clock of whoever keeps them.
#ifndef ZN_DATA_OBJECT_H
#define ZN_DATA_OBJECT_H

#include "src/base/bytes.h"
#include "src/base/os.h"
#include "zenith/dataset.h"

enum { ZN_OBJECT_ETAG = sizeof(((zenith_object *)0)->etag) };

bool zn_object_is_stored(const zenith_storage *storage, const char *path);

// ZENITH_NOT_FOUND: it is not there. A file has no etag, and no age.
zenith_status zn_object_look(const zenith_storage *storage, const char *path, zenith_object *out,
                             zn_error *err);
// All of a small one; more than `most` bytes are ZENITH_LIMIT. `out` is freed by the caller in any
// case.
zenith_status zn_object_get(const zenith_storage *storage, const char *path, size_t most,
                            zn_bytes *out, zn_error *err);
// Where there is none, at once; *made false: there is one, which is left alone.
zenith_status zn_object_create(const zenith_storage *storage, const char *path, const void *data,
                               size_t size, bool *made, zn_error *err);
zenith_status zn_object_remove(const zenith_storage *storage, const char *path, zn_error *err);
// Of a storage. Every object below a folder, in the order of zn_directory_walk; not deep: of the
// folder itself.
zenith_status zn_object_each(const zenith_storage *storage, const char *folder, bool deep,
                             zenith_object_fn *each, void *cookie, zn_error *err);

// --- from the beginning to the end --------------------------------------------------------------

typedef struct zn_object_reader zn_object_reader;
// etag: "", or that of the object that is meant.
zenith_status zn_object_reader_open(const zenith_storage *storage, const char *path,
                                    const char *etag, zn_object_reader **out, zn_error *err);
// *got is less than `size` only at the end.
zenith_status zn_object_reader_read(zn_object_reader *input, void *dst, size_t size, size_t *got,
                                    zn_error *err);
void zn_object_reader_close(zn_object_reader *input); // NULL is fine

typedef struct zn_object_writer zn_object_writer;
zenith_status zn_object_writer_open(const zenith_storage *storage, const char *path,
                                    zn_object_writer **out, zn_error *err);
zn_writer *zn_object_writer_file(zn_object_writer *output);
// What was written goes on its way: between calls the bytes for a storage are held in memory.
zenith_status zn_object_writer_drain(zn_object_writer *output, zn_error *err);
// Puts it in place; the output is freed either way. etag: of the object; "" of a file.
zenith_status zn_object_writer_commit(zn_object_writer *output, char etag[ZN_OBJECT_ETAG],
                                      zn_error *err);
void zn_object_writer_discard(zn_object_writer *output); // NULL is fine

#endif
