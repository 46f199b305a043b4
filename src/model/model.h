// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A model: weights, the variant they are, and what is made from them once (packed weights,
// calibration). Immutable after open but for the packed weights, which have their own lock; shared
// by reference.
#ifndef ZN_MODEL_MODEL_H
#define ZN_MODEL_MODEL_H

#include "src/base/os.h"
#include "src/format/pipeline/calibration.h"
#include "src/graph/packs.h"
#include "src/model/family.h"

#include <stdatomic.h>

typedef struct zn_model {
    atomic_int references;
    atomic_bool closed;         // by who opened it: plans of it that are kept are of no use
    struct zn_model *base;      // whose weights and calibration these are; NULL: its own
    struct zn_model *companion; // that it works with, by its family; NULL: none
    zn_arena held;              // bytes of files in memory
    zn_weights *weights;
    const zn_family *family;
    const zn_variant *variant;
    const zn_share *share; // of each part, that this model computes; NULL: all of it
    unsigned parts;        // of the family's that the weights have: a bit each
    char layouts[ZN_MOST_PARTS][ZN_LAYOUT_SIZE]; // by the family; "": it says nothing
    // Of models that are no autoencoders, which have gigabytes, it is computed when it is first
    // asked for.
    char sha256[65];
    zn_mutex *hashing;
    uint64_t parameters;
    size_t unexpected; // tensors in the files that the model does not use
    bool
        bytes; // matrices are bytes already (row_source.h): products in 8 bits lose nothing of them
    zn_packs *packs;
    zn_calibration *calibration; // NULL: none was found for these weights
    char calibration_problem[256];
} zn_model;

typedef struct zn_model_request {
    const char *name;    // NULL: told from the weights
    const char *weights; // file or folder; NULL: searched for by name
    const char *
        // of a companion: where the other's weights are, which is searched first; NULL: nowhere
        beside;
    // Files in memory instead, whose bytes live as long as the model. held: the memory of some of
    // them, which the model takes over when it is opened.
    const zn_memory_file *files;
    size_t file_count;
    zn_arena *held;
    const char *const *parts; // names of those that must be there, then NULL; NULL: any
    // NULL: the whole. Else it outlives the model, and only what this share computes with is read.
    // The model then has no SHA-256, for which all would be read, and no calibration.
    const zn_share *share;
} zn_model_request;

zenith_status zn_model_open(const zn_model_request *request, zn_model **out, zn_error *err);
// The same model with packed weights of its own: they go when it is freed, and the files stay open
// with `model`.
zenith_status zn_model_again(zn_model *model, zn_model **out, zn_error *err);
// The least that its packed weights take with `element` bytes for each, as far as the files tell:
// what is stored in less may stay so.
uint64_t zn_model_least_bytes(const zn_model *model, size_t element);
zn_model *zn_model_ref(zn_model *model);
void zn_model_unref(zn_model *model); // NULL is fine
// The same by who opened it. What runs goes on; plans that contexts keep of it, and with them its
// packed weights, go when the next plan is made there.
void zn_model_close(zn_model *model);

// zn_weights_sha256 of its weights. May read all of them.
const char *zn_model_sha256(const zn_model *model);
bool zn_model_hashed(const zn_model *model); // it is known without reading them

// ZENITH_BAD_FILE names a tensor with NaN or infinity in it. Autoencoders are checked when they are
// opened; of others, which have gigabytes, it is asked after a run whose numbers were none.
zenith_status zn_model_check_numbers(const zn_model *model, zn_error *err);

// The part of this name; NULL where the family or the weights lack it.
const zn_part *zn_model_part(const zn_model *model, const char *name);
bool zn_model_has(const zn_model *model, const zn_part *part);
// Why the calibration file next to the weights is not used; "": it is, or there is none.
const char *zn_model_calibration_problem(const zn_model *model);
bool zn_model_has_int8(const zn_model *model); // by a calibration, or without one

// How a part of the weights is arranged, by their metadata (zenith.decoder) or the family; NULL:
// neither says.
const char *zn_model_layout(const zn_model *model, const zn_part *part);
// The metadata's key, into dst, which is returned.
const char *zn_layout_key(const zn_part *part, char dst[ZN_NAME_SIZE]);

// Adds a part to a graph: see zn_part_build. int8: of linear layers, for variants that have it
// without a calibration.
void zn_model_build(const zn_model *model, const zn_part *part, const zn_sizes *sizes, bool int8,
                    zn_graph *graph, zn_node *const *inputs, zn_node **outputs);

// A graph with one part, from leaves named as its ports to outputs in their order. pixels: type and
// scale of pictures that go in; NULL: f32. Free it with zn_graph_free.
zenith_status zn_model_graph(const zn_model *model, const zn_part *part, const zn_sizes *sizes,
                             const zn_desc *pixels, zn_graph *out, zn_error *err);

// The same for the smallest sizes that the weights are for. All parameters are there and well
// shaped.
zenith_status zn_model_small_graph(const zn_model *model, const zn_part *part, zn_graph *out,
                                   zn_error *err);

// Writes the parameters under the names of `build` in one type (F32, F16, BF16): into a folder as
// NAME_PART.safetensors for each part, without the part's prefix, as published, or into one file
// with it.
zenith_status zn_model_write(const zn_model *model, const char *path, zn_type type, zn_error *err);

// All variants of all families, in the order of models.list: 0, 1, ... until NULL.
const zn_variant *zn_variant_at(size_t index);
const zn_variant *zn_variant_find(const char *name);
const zn_family *zn_family_of(const zn_variant *variant); // one of the above

// Which variants a set of weights can be, as "taesd, taesdxl", into dst; the family, or NULL.
const zn_family *zn_model_probe(const zn_weights *weights, unsigned *fits, unsigned *parts);

#endif
