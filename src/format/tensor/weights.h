// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights: a set of tensors by name, from one file or many. Where the bytes lie (one file, shards
// with an index, an encoder and a decoder apart) is known here and nowhere above. Files stay mapped
// and are never copied whole. An open set does not change: threads may share it.
#ifndef ZN_FORMAT_TENSOR_WEIGHTS_H
#define ZN_FORMAT_TENSOR_WEIGHTS_H

#include "src/base/json.h"
#include "src/base/status.h"
#include "src/format/tensor/gguf.h"
#include "src/format/tensor/safetensors.h"

#include <stddef.h>

typedef struct zn_weights zn_weights;

#define ZN_WEIGHTS_CONFIG "zenith.config.json"

// path is one of
//   - a .safetensors file, or a .gguf file;
//   - a *.index.json: the tensors of its "weight_map", from shards in the same folder;
//   - a folder: its index (diffusion_pytorch_model or model, else the only one there is), else its
//     weights file by the same rule; ZENITH_AMBIGUOUS when several could be meant.
// A config.json beside an index or in the folder is read too; else the metadata ZN_WEIGHTS_CONFIG
// of a file, if it has that, is its text. Pickles (.pth .pt .ckpt .bin) are ZENITH_UNSUPPORTED,
// with a sentence on what to do.
zenith_status zn_weights_open(const char *path, zn_weights **out, zn_error *err);

// Several of those as one set, the parts of a model; every name of paths[i] gets prefixes[i]
// ("encoder.") put before it. `prefixes` may be NULL. A name that results twice is ZENITH_BAD_FILE.
zenith_status zn_weights_open_parts(const char *const *paths, const char *const *prefixes,
                                    size_t count, zn_weights **out, zn_error *err);

// A file in memory, which must outlive the set.
typedef struct zn_memory_file {
    const char *name; // its ending says what it is, as on disk
    const uint8_t *data;
    size_t size;
} zn_memory_file;

// The files of a model's folder as one set, with prefixes likewise: weights, shards too, and
// config.json. An index of shards is not needed, and is passed over.
zenith_status zn_weights_open_files(const zn_memory_file *files, const char *const *prefixes,
                                    size_t count, zn_weights **out, zn_error *err);
void zn_weights_free(zn_weights *weights); // NULL is fine
// The files' bytes stop counting as resident memory, until they are read again.
void zn_weights_forget(const zn_weights *weights);

// Tensors in byte order of their names: loop over them to list what is unexpected. Everything
// handed out is borrowed.
size_t zn_weights_count(const zn_weights *weights);
const zn_file_tensor *zn_weights_get(const zn_weights *weights, size_t index);
const zn_file_tensor *zn_weights_find(const zn_weights *weights, const char *name); // or NULL

// The path of the file that holds a tensor which get or find returned.
const char *zn_weights_file(const zn_weights *weights, const zn_file_tensor *tensor);
// The value of a metadata key in the first file that has it; NULL when none has.
const char *zn_weights_metadata(const zn_weights *weights, const char *key);
// Of GGUF files, texts are such keys; the other values are asked of the file itself: the first of
// the set, or NULL.
const zn_gguf *zn_weights_gguf(const zn_weights *weights);
const zn_json *zn_weights_config(const zn_weights *weights); // config.json, or NULL

// What the file's metadata says on how the module of a tensor "MODULE.weight" is quantised: an
// object, or NULL (quant_note.h).
const zn_json *zn_weights_note(const zn_weights *weights, const zn_file_tensor *tensor);

// A tensor as f32, however it is stored (stored_weight.h). `expected`: the shape it must have, or
// NULL for any (then dst must have room for what zn_stored_weight_of says). ZENITH_NOT_FOUND,
// ZENITH_BAD_FILE for another shape, or ZENITH_UNSUPPORTED; the sentence names file, tensor,
// expected and found shape.
zenith_status zn_weights_read_f32(const zn_weights *weights, const char *name,
                                  const zn_shape *expected, float *dst, zn_error *err);

// SHA-256 over name, type, shape and bytes of every tensor in order of names: the same weights have
// the same hash in one file or in shards. Reads all bytes.
void zn_weights_sha256(const zn_weights *weights, char hex[65]);

#endif
