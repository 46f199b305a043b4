// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// From the numbers of a prompt's tokens and noise to a picture's latent, by a text model
// (model/text_to_image/qwen3.h) and a diffusion transformer (model/text_to_image/zimage.h). What
// depends on the prompt alone is computed once, and so is what depends on the timesteps alone.
#ifndef ZN_TASK_GENERATE_GENERATE_H
#define ZN_TASK_GENERATE_GENERATE_H

#include "src/task/engine/engine.h"

typedef struct zn_prompt {
    const int32_t *ids; // as the tokenizer has them, with what the template puts around the prompt
    size_t count;
} zn_prompt;

typedef struct zn_generation {
    zn_model *text, *transformer;
    zenith_dtype dtype;         // of both; the default: the transformer's on the machine
    zn_prompt prompt, negative; // negative: only with guidance
    // Hidden states of both prompts (zn_encode_prompt), which the text model is then not asked for;
    // NULL: it is.
    const float *captions[2];
    uint32_t height, width; // of the latent, multiples of the transformer's patch
    int steps;              // as many forwards (twice as many with guidance)
    int begin;              // steps that are left out at the beginning: see `picture`
    const float *
        // [channels, height, width]: what the noise is mixed with, for `begin`; NULL: nothing
        picture;
    double shift;   // of the schedule: scheduler_config.json
    float guidance; // see diffusion/flow_match.h, as the next two
    float truncation, normalise;
    uint64_t max_memory; // of each model by itself: working memory and packed weights; 0: no bound
    const atomic_int *cancel; // not zero: stop soon, ZENITH_CANCELLED; NULL: never
    // After each step, with its number from 0, the latent [channels, height, width] and the latent
    // of the picture that it leads to (diffusion/flow_match.h); not zero stops. May be NULL. Called
    // on a thread of the engine.
    int (*stepped)(void *cookie, int step, const float *latent, const float *predicted);
    void *cookie;
    double *prepared; // NULL, or the clock when the first step begins
} zn_generation;

// Channels of latents.
int64_t zn_generate_channels(const zn_model *transformer);

// latent: [channels, height, width], noise before, a picture's after (in the model's space: what
// the decoder of its autoencoder takes). After a failure it is some latent between.
zenith_status zn_generate(zn_engine *engine, const zn_generation *is, float *latent, zn_error *err);

// The hidden states of a prompt, [count, width of the text model], into dst. max_memory: as above.
zenith_status zn_encode_prompt(zn_engine *engine, zn_model *text, zenith_dtype dtype,
                               const zn_prompt *prompt, uint64_t max_memory,
                               const atomic_int *cancel, float *dst, zn_error *err);

#endif
