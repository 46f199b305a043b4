// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// safetensors: a file of named tensors that is mapped and read in place.
//
//   | u64 n, little-endian | n bytes of JSON | data: the tensors, one directly after the other |
//
// The JSON is {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...,
// "__metadata__": {"key": "value", ...}} with offsets from the start of the data. Files come from
// strangers, so an open file keeps these promises (the same that the reference implementation
// checks):
//   1. every tensor lies inside the file, and has as many bytes as shape and type say;
//   2. tensors do not overlap, and no byte of the data belongs to none;
//   3. names are distinct, ranks are at most ZN_MAX_RANK, products of dimensions fit a size_t.
// Nothing promises alignment: data may start at any address.
#ifndef ZN_FORMAT_TENSOR_SAFETENSORS_H
#define ZN_FORMAT_TENSOR_SAFETENSORS_H

#include "src/base/os.h"
#include "src/base/status.h"
#include "src/format/tensor/file_tensor.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_metadata {
    const char *key;
    const char *value;
} zn_metadata;

typedef struct zn_safetensors zn_safetensors;

// Maps a file. Everything handed out lives until zn_safetensors_free.
zenith_status zn_safetensors_open(const char *path, zn_safetensors **out, zn_error *err);
// The same on bytes that stay the caller's and must outlive *out; `name` is used in messages.
zenith_status zn_safetensors_open_memory(const uint8_t *data, size_t size, const char *name,
                                         zn_safetensors **out, zn_error *err);
// Tells the system that the file's bytes will not be wanted again soon: they stop counting as
// resident.
void zn_safetensors_forget(const zn_safetensors *file);
void zn_safetensors_free(zn_safetensors *file); // NULL is fine

// Tensors in byte order of their names: 0 <= index < count.
size_t zn_safetensors_count(const zn_safetensors *file);
const zn_file_tensor *zn_safetensors_get(const zn_safetensors *file, size_t index);
const zn_file_tensor *zn_safetensors_find(const zn_safetensors *file, const char *name); // or NULL
const char *zn_safetensors_metadata(const zn_safetensors *file, const char *key);        // or NULL
size_t zn_safetensors_metadata_count(const zn_safetensors *file);
zn_metadata zn_safetensors_metadata_get(const zn_safetensors *file, size_t index);

// --- writing (safetensors_write.c)
//
// The same tensors give the same bytes: keys of the JSON in byte order, the JSON padded with spaces
// to a multiple of 8, the data ordered by falling element size and then by name, so that every
// tensor is aligned for its type. `dtype`, `supported` and `bytes` are not read: they follow from
// type and shape.

// Sorts `tensors` into the order in which their data must follow and writes everything before the
// data. The caller then writes exactly the bytes of each tensor, in that order, by zn_writer_write:
// a large tensor need never be in memory whole. Their `data` is not looked at here.
zenith_status zn_safetensors_write_header(zn_writer *writer, zn_file_tensor *tensors, size_t count,
                                          const zn_metadata *metadata, size_t pairs, zn_error *err);

// The same for tensors in the caller's order, and data that starts at a multiple of `align` bytes.
zenith_status zn_safetensors_write_ordered(zn_writer *writer, const zn_file_tensor *tensors,
                                           size_t count, const zn_metadata *metadata, size_t pairs,
                                           size_t align, zn_error *err);

// A whole file: the header, then each tensor's data. Sorts `tensors` likewise.
zenith_status zn_safetensors_write(zn_writer *writer, zn_file_tensor *tensors, size_t count,
                                   const zn_metadata *metadata, size_t pairs, zn_error *err);

// "F32" for ZN_F32 and so on; never NULL.
const char *zn_safetensors_dtype(zn_type type);

#endif
