// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A clip on its way through an encoder or decoder of video, a step at a time: one latent, and the
// pictures that it stands for. What later steps need of earlier ones is in states, so bytes do not
// depend on the clip's length.
#ifndef ZN_TASK_AUTOENCODE_CLIP_H
#define ZN_TASK_AUTOENCODE_CLIP_H

#include "src/task/engine/engine.h"

typedef struct zn_clip zn_clip;

typedef struct zn_clip_request {
    zn_model *model;
    unsigned part; // ZENITH_ENCODER or ZENITH_DECODER
    uint32_t width, height;
    zenith_number pixels;     // ZENITH_U8 or ZENITH_F32, of every picture
    zenith_run_params params; // dtype never the default
} zn_clip_request;

// Compiles both kinds of steps, and fails where they and the states do not fit max_memory.
zenith_status zn_clip_open(zn_engine *engine, const zn_clip_request *request, zn_clip **out,
                           zn_error *err);
// While no job of the engine runs. NULL is fine.
void zn_clip_free(zn_clip *clip);

// Pictures of the next step; working memory and states.
int zn_clip_frames(const zn_clip *clip);
uint64_t zn_clip_bytes(const zn_clip *clip);
// Of the last step, but for its seconds.
zenith_run_facts zn_clip_facts(const zn_clip *clip);

// The next step is a first one again.
void zn_clip_reset(zn_clip *clip);

// One step: zn_clip_frames pictures, and one latent. A step that fails or is stopped can be made
// again, unless max_memory was so tight that a step writes over what it reads: then the clip must
// be reset.
zenith_status zn_clip_step(zn_clip *clip, const zenith_image *images, const zenith_latent *latent,
                           zn_error *err);

#endif
