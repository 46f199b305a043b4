// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A pipeline: a folder of several models that work together, by its model_index.json. Each
// component is a folder with weights (one file or shards) or without (a tokenizer, a schedule), and
// its own model.
#ifndef ZN_MODEL_PIPELINE_H
#define ZN_MODEL_PIPELINE_H

#include "src/format/pipeline/model_index.h"
#include "src/model/locate.h"

typedef struct zn_pipeline {
    zn_arena arena;
    char folder[ZN_PATH_SIZE];
    zn_model_index index;
} zn_pipeline;

bool zn_pipeline_is(const char *path); // a folder with a model_index.json
zenith_status zn_pipeline_open(const char *folder, zn_pipeline *out, zn_error *err);
void zn_pipeline_free(zn_pipeline *pipeline); // a zeroed one is fine

const zn_model_component *zn_pipeline_find(const zn_pipeline *pipeline,
                                           const char *name); // or NULL

// The folder of a component.
zenith_status zn_pipeline_path(const zn_pipeline *pipeline, const char *name,
                               char path[ZN_PATH_SIZE], zn_error *err);

// Its weights. ZENITH_NOT_FOUND where there is no such component, or it has none.
zenith_status zn_pipeline_weights(const zn_pipeline *pipeline, const char *name, zn_weights **out,
                                  zn_error *err);

// The weights of the one component that is the variant `model`; where that is NULL, of the one
// autoencoder, or else of the one component that some family knows. ZENITH_NOT_FOUND and
// ZENITH_AMBIGUOUS name the components.
zenith_status zn_pipeline_model(const zn_pipeline *pipeline, const char *model, zn_weights **out,
                                zn_error *err);

#endif
