// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// GGUF, version 3: a file of named values and named tensors that is mapped and read in place.
//
//   | "GGUF" | u32 3 | u64 tensors | u64 values | values | tensors' descriptions | zeros | data |
//
// Numbers are little-endian; a text is its u64 length and its bytes. A value is a key, a u32 type
// and what that type has; a tensor is a name, a u32 rank, u64 dimensions (the fastest first), a u32
// type and a u64 offset into the data. Data and tensors begin at multiples of the value
// general.alignment, or of 32. Files come from strangers, so an open file keeps these promises:
//   1. every value and every item of an array lies inside the file;
//   2. every tensor lies inside the data, has as many bytes as shape and type say (of a type that
//      we do not know: those up to the next tensor), and shares none with another;
//   3. names and keys are distinct, and UTF-8 without control characters; products of dimensions
//      fit a size_t.
// What is allocated is bounded by the size of the file.
#ifndef ZN_FORMAT_TENSOR_GGUF_H
#define ZN_FORMAT_TENSOR_GGUF_H

#include "src/base/os.h"
#include "src/base/status.h"
#include "src/format/tensor/file_tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum zn_gguf_type { // as files number them
    ZN_GGUF_U8 = 0,
    ZN_GGUF_I8,
    ZN_GGUF_U16,
    ZN_GGUF_I16,
    ZN_GGUF_U32,
    ZN_GGUF_I32,
    ZN_GGUF_F32,
    ZN_GGUF_BOOL,
    ZN_GGUF_TEXT,
    ZN_GGUF_ARRAY,
    ZN_GGUF_U64,
    ZN_GGUF_I64,
    ZN_GGUF_F64,
    ZN_GGUF_TYPES
} zn_gguf_type;

// A text where the file has it, without a closing zero.
typedef struct zn_gguf_text {
    const char *data;
    size_t length;
} zn_gguf_text;

typedef struct zn_gguf_value {
    const char *key;
    zn_gguf_type type;
    zn_gguf_type item;   // of an array: the type of its items
    size_t count;        // of an array: how many
    const uint8_t *data; // the number, the text's length and bytes, or the first item
    const char
        *text; // of a text of at most 64 KB without zeros: a copy with a closing zero, else NULL
} zn_gguf_value;

typedef struct zn_gguf zn_gguf;

// Maps a file. Everything handed out lives until zn_gguf_free.
zenith_status zn_gguf_open(const char *path, zn_gguf **out, zn_error *err);
// The same on bytes that stay the caller's and must outlive *out; `name` is used in messages.
zenith_status zn_gguf_open_memory(const uint8_t *data, size_t size, const char *name, zn_gguf **out,
                                  zn_error *err);
// Whether bytes begin as such a file does.
bool zn_gguf_sniff(const uint8_t *data, size_t size);
void zn_gguf_forget(const zn_gguf *file); // as zn_safetensors_forget
void zn_gguf_free(zn_gguf *file);         // NULL is fine

// Tensors in byte order of their names, with dimensions in the order of torch: the fastest last.
size_t zn_gguf_count(const zn_gguf *file);
const zn_file_tensor *zn_gguf_get(const zn_gguf *file, size_t index);
const zn_file_tensor *zn_gguf_find(const zn_gguf *file, const char *name); // or NULL

// Values in byte order of their keys.
size_t zn_gguf_value_count(const zn_gguf *file);
const zn_gguf_value *zn_gguf_value_get(const zn_gguf *file, size_t index);
const zn_gguf_value *zn_gguf_value_find(const zn_gguf *file, const char *key); // or NULL

// What a value is; false where it is of another kind, or where it does not fit. NULL is of no kind.
bool zn_gguf_as_integer(const zn_gguf_value *value, int64_t *out); // integers and bool
bool zn_gguf_as_number(const zn_gguf_value *value, double *out);   // integers and floats
bool zn_gguf_as_text(const zn_gguf_value *value, zn_gguf_text *out);

// The items of an array, one after the other, without copying:
//     zn_gguf_items items = zn_gguf_items_of(value);
//     while (zn_gguf_next_text(&items, &text)) ...
// False at the end, and for items of another kind (arrays of arrays cannot be walked).
typedef struct zn_gguf_items {
    zn_gguf_type type;
    size_t left;
    const uint8_t *at;
} zn_gguf_items;
zn_gguf_items zn_gguf_items_of(const zn_gguf_value *value); // of NULL and of no array: none
bool zn_gguf_next_text(zn_gguf_items *items, zn_gguf_text *out);
bool zn_gguf_next_integer(zn_gguf_items *items, int64_t *out);
bool zn_gguf_next_number(zn_gguf_items *items, double *out);

#endif
