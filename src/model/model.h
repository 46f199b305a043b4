// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A model: weights, the variant they are, and what is made from them once (packed weights,
// calibration). Immutable after open but for the packed weights, which have their own lock; shared
// by reference.
#ifndef ZN_MODEL_MODEL_H
#define ZN_MODEL_MODEL_H

#include "src/format/calibration.h"
#include "src/graph/packs.h"
#include "src/model/family.h"

#include <stdatomic.h>

typedef struct zn_model {
    atomic_int references;
    zn_weights *weights;
    const zn_family *family;
    const zn_variant *variant;
    unsigned parts; // ZN_ENCODER | ZN_DECODER
    char sha256[65];
    uint64_t parameters;
    size_t unexpected; // tensors in the files that the model does not use
    zn_packs *packs;
    zn_calibration *calibration; // NULL: none was found for these weights
} zn_model;

typedef struct zn_model_request {
    const char *name;    // NULL: told from the weights
    const char *weights; // file or folder; NULL: searched for by name
    unsigned parts;      // that must be there; 0: any
} zn_model_request;

zenith_status zn_model_open(const zn_model_request *request, zn_model **out, zn_error *err);
zn_model *zn_model_ref(zn_model *model);
void zn_model_unref(zn_model *model); // NULL is fine

// How a part of the weights is arranged, by their metadata (zenith.decoder); NULL: they do not say.
const char *zn_model_layout(const zn_model *model, unsigned part);
const char *zn_layout_key(unsigned part); // of the metadata

// Adds the network to a graph: from `x` to its result.
zn_node *zn_model_build(const zn_model *model, unsigned part, zn_graph *graph, zn_node *x);

// The network of one part for one small picture, whose parameters are all there and well shaped.
// Free it with zn_graph_free.
zenith_status zn_model_small_graph(const zn_model *model, unsigned part, zn_graph *out,
                                   zn_error *err);

// Writes the parameters under the names of `build` in one type (F32, F16, BF16): into a folder as
// NAME_encoder.safetensors and NAME_decoder.safetensors without the part's prefix, as published, or
// into one file with it.
zenith_status zn_model_write(const zn_model *model, const char *path, zn_type type, zn_error *err);

// All variants of all families, in the order of models.list: 0, 1, ... until NULL.
const zn_variant *zn_variant_at(size_t index);
const zn_variant *zn_variant_find(const char *name);
const zn_family *zn_family_of(const zn_variant *variant); // one of the above
// Scale and shift of a variant; false where it has none, or is not known.
bool zn_model_space(const char *name, float *scale, float *shift);

// Which variants a set of weights can be, as "taesd, taesdxl", into dst; the family, or NULL.
const zn_family *zn_model_probe(const zn_weights *weights, unsigned *fits, unsigned *parts);

#endif
