// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What open files of named tensors have in common, whatever their format: bytes that are mapped or
// the caller's, one arena for all that lives as long as the file, and the tensors in byte order of
// their names. A format's own struct begins with a zn_tensor_file, and its parser fills the
// tensors:
//
//     struct zn_gguf {
//         zn_tensor_file base; // first
//         ...
//     };
#ifndef ZN_FORMAT_TENSOR_TENSOR_FILE_H
#define ZN_FORMAT_TENSOR_TENSOR_FILE_H

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/status.h"
#include "src/format/tensor/file_tensor.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_tensor_file {
    zn_mapped mapped; // empty when the bytes are the caller's
    zn_arena arena;   // every text and every array
    const char *name; // of the file, for messages
    zn_file_tensor *tensors;
    size_t count;
} zn_tensor_file;

// A format: the bytes of its struct, and its parser, which leaves the tensors sorted by
// zn_tensor_file_sort. Where the parser fails, the file is freed.
typedef struct zn_tensor_format {
    size_t struct_bytes;
    zenith_status (*parse)(zn_tensor_file *file, const uint8_t *bytes, size_t size, zn_error *err);
} zn_tensor_format;

// *out is the format's struct.
zenith_status zn_tensor_file_open(const zn_tensor_format *format, const char *path,
                                  zn_tensor_file **out, zn_error *err);
zenith_status zn_tensor_file_open_memory(const zn_tensor_format *format, const uint8_t *data,
                                         size_t size, const char *name, zn_tensor_file **out,
                                         zn_error *err);
void zn_tensor_file_forget(const zn_tensor_file *file);
void zn_tensor_file_free(zn_tensor_file *file); // NULL is fine

// For parsers: room for so many tensors, all zero; and the order that finding needs.
zenith_status zn_tensor_file_reserve(zn_tensor_file *file, size_t count, zn_error *err);
void zn_tensor_file_sort(zn_tensor_file *file);

const zn_file_tensor *zn_tensor_file_find(const zn_tensor_file *file, const char *name); // or NULL

#endif
