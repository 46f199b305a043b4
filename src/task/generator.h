// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A generator: what a folder of a whole pipeline (model/pipeline.h) has for pictures from text. It does not change
// after it is opened; any number of engines may use it.
#ifndef ZN_TASK_GENERATOR_H
#define ZN_TASK_GENERATOR_H

#include "src/diffusion/noise.h"
#include "src/model/locate.h"
#include "src/task/together.h"
#include "src/text/tokenizer.h"

typedef struct zn_generator {
    zn_model *text, *transformer;
    zn_tokenizer *tokenizer;
    zn_together *together; // with other processes, and then one call at a time; NULL: alone
    double shift;          // of the schedule
    char autoencoder[ZN_PATH_SIZE]; // the folder of the pipeline's own; "": it has none
} zn_generator;

// What is missing in the folder is ZENITH_NOT_FOUND, with what to do.
zenith_status zn_generator_open(const char *folder, zn_generator **out, zn_error *err);
void zn_generator_free(zn_generator *generator); // NULL is fine

// The model whose latents these are.
const zn_variant *zn_generator_latents(const zn_generator *generator);
// Picture pixels that the sides of pictures are multiples of, and latent pixels of the longest side.
uint32_t zn_generator_multiple(const zn_generator *generator);
enum { ZN_GENERATOR_MOST_SIDE = 1 << 14 };

typedef struct zn_generator_call {
    const char *prompt, *negative; // UTF-8; negative may be NULL, which is ""
    uint64_t seed;
    zn_noise noise;
    zn_generation how; // models, prompts and shift are the generator's: they are filled in
} zn_generator_call;

typedef struct zn_generator_tokens {
    size_t whole, read; // of the prompt, in its template: before its end was cut off, and after
} zn_generator_tokens;

// Noise by the seed, then zn_generate. latent: [channels, height, width] of call->how, written in any case.
zenith_status zn_generator_run(zn_engine *engine, const zn_generator *generator,
                               const zn_generator_call *call, float *latent,
                               zn_generator_tokens *tokens, zn_error *err);

#endif
