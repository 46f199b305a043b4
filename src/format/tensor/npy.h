// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// npy: NumPy's file of one array, for exchange. Read in place, as safetensors is.
//
//   | 93 "NUMPY" | major, minor | header length: u16 (version 1), u32 (2, 3) | header | data |
//
// The header is a Python dictionary, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), },
// padded with spaces and closed by a newline.
#ifndef ZN_FORMAT_TENSOR_NPY_H
#define ZN_FORMAT_TENSOR_NPY_H

#include "src/base/os.h"
#include "src/base/status.h"
#include "src/tensor/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct zn_npy {
    zn_type type;
    zn_shape shape;      // row-major
    const uint8_t *data; // borrowed from the bytes that were parsed, perhaps unaligned
    size_t bytes;
} zn_npy;

bool zn_npy_is(const uint8_t *data, size_t size); // by its first bytes

// Reads f2 f4 f8 i1 i4 i8 u1, little-endian, C order; `name` is used in messages. Other types,
// big-endian data and Fortran order are ZENITH_UNSUPPORTED.
zenith_status zn_npy_parse(const uint8_t *data, size_t size, const char *name, zn_npy *out,
                           zn_error *err);

// Writes everything before the data; the caller then writes the elements in row-major order by
// zn_writer_write, in pieces of any size. ZN_F32, ZN_F16 and ZN_U8 only.
zenith_status zn_npy_write_header(zn_writer *writer, zn_type type, const zn_shape *shape,
                                  zn_error *err);
enum { ZN_NPY_HEADER = 266 }; // bytes of the longest
// The same into memory; *size of it are used.
zenith_status zn_npy_make_header(zn_type type, const zn_shape *shape, uint8_t dst[ZN_NPY_HEADER],
                                 size_t *size, zn_error *err);
// A whole file.
zenith_status zn_npy_write(zn_writer *writer, zn_type type, const zn_shape *shape, const void *data,
                           zn_error *err);

#endif
