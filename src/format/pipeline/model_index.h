// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The index of a folder of several models that work together (diffusers' model_index.json):
//   {"_class_name": "ZImagePipeline", "vae": ["diffusers", "AutoencoderKL"], ...}
// Each component is a folder of that name. Keys that begin with _, and values that are no pair, are
// settings; a pair of nulls is a component that is left out.
#ifndef ZN_FORMAT_PIPELINE_MODEL_INDEX_H
#define ZN_FORMAT_PIPELINE_MODEL_INDEX_H

#include "src/base/memory.h"
#include "src/base/status.h"

#include <stddef.h>

typedef struct zn_model_component {
    const char *name;    // a plain name of letters, digits, '_', '-' and '.', which is no path
    const char *library; // "diffusers", "transformers"
    const char *kind;    // "AutoencoderKL"
} zn_model_component;

typedef struct zn_model_index {
    const char *kind; // "ZImagePipeline"; "" where it does not say
    zn_model_component *components;
    size_t count;
} zn_model_index;

// Parses an index without looking at any other file. All texts belong to the arena. A name that
// could lead out of the index's own folder is ZENITH_BAD_FILE.
zenith_status zn_model_index_parse(const char *text, size_t size, const char *where,
                                   zn_arena *arena, zn_model_index *out, zn_error *err);

#endif
