// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Encoding and decoding batches. Each picture runs alone through a plan for its size, so its bits
// cannot depend on its neighbours; streams take the pictures of a batch in order.
#ifndef ZN_TASK_AUTOENCODE_AUTOENCODE_H
#define ZN_TASK_AUTOENCODE_AUTOENCODE_H

#include "src/task/engine/engine.h"

struct zenith_cancel {
    atomic_int requested;
};

typedef struct zn_batch {
    zn_model *model;
    unsigned part; // ZENITH_ENCODER: images -> latents, ZENITH_DECODER: latents -> images
    const zenith_image *images;
    const zenith_latent *latents;
    size_t count;
    zenith_run_params params; // dtype never the default; facts: our struct, or NULL
} zn_batch;

// What every run of pictures and latents checks first: whether the weights have the part, a picture
// a size that the model takes, and a picture and a latent fit each other.
zenith_status zn_check_part(const zn_model *model, unsigned part, zn_error *err);
zenith_status zn_check_size(const zn_model *model, const zenith_image *image, zn_error *err);
zenith_status zn_check_pair(const zn_model *model, const zenith_image *image,
                            const zenith_latent *latent, zn_error *err);

// Checks sizes, types and pointers before anything is computed. Fills params.facts, and
// params.results where they are asked for: one picture's failure then leaves the others alone
// (ZENITH_PARTIAL).
zenith_status zn_autoencode(zn_engine *engine, const zn_batch *batch, zn_error *err);
// The same in a job on `stream`, on that stream alone.
zenith_status zn_autoencode_on_stream(zn_engine *engine, const zn_batch *batch, zn_team *team,
                                      int stream, zn_error *err);

zenith_status zn_estimate(zn_engine *engine, zn_model *model, unsigned part, uint32_t width,
                          uint32_t height, bool streamed, const zenith_run_params *params,
                          zenith_estimate_info *out, zn_error *err);

#endif
