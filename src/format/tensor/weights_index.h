// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The index of a sharded checkpoint (*.safetensors.index.json): which file holds which tensor.
//   {"metadata": {...}, "weight_map": {"layer.weight": "model-00001-of-00004.safetensors", ...}}
#ifndef ZN_FORMAT_TENSOR_WEIGHTS_INDEX_H
#define ZN_FORMAT_TENSOR_WEIGHTS_INDEX_H

#include "src/base/memory.h"
#include "src/base/status.h"

#include <stddef.h>

typedef struct zn_index_entry {
    const char *tensor;
    const char *shard; // a plain file name, without folders
} zn_index_entry;

// Parses an index without looking at any other file. Entries come sorted by shard and then by
// tensor; they and their texts belong to the arena. `where` names the text in messages. A shard's
// name that could lead out of the index's own folder is ZENITH_BAD_FILE.
zenith_status zn_weights_index_parse(const char *text, size_t size, const char *where,
                                     zn_arena *arena, zn_index_entry **out, size_t *count,
                                     zn_error *err);

#endif
