// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A generator: what makes pictures from text, from a folder of a whole pipeline (model/pipeline.h), from files by
// themselves, or from both. It does not change after it is opened; any number of engines may use it.
#ifndef ZN_TASK_GENERATOR_H
#define ZN_TASK_GENERATOR_H

#include "src/diffusion/noise.h"
#include "src/model/locate.h"
#include "src/task/together.h"
#include "src/text/tokenizer.h"

typedef struct zn_generator {
    zn_model *text, *transformer;
    zn_tokenizer *tokenizer;
    double shift; // of the schedule
    char autoencoder
        [ZN_PATH_SIZE]; // where the pipeline's own is, a folder or a file; "": it has none
} zn_generator;

// Where its parts are. Each is a file or a folder; NULL: in the pipeline's folder.
typedef struct zn_generator_files {
    // The pipeline; NULL: "z-image-turbo" where models are searched for (model/locate.h), if a part is still missing.
    const char *folder;
    const char *transformer, *text_encoder;
    const char *tokenizer; // NULL: also in a GGUF file or a folder of text_encoder
    const char *autoencoder;
    double
        shift; // of the schedule; 0: the pipeline's, and without a pipeline that of Z-Image-Turbo
} zn_generator_files;

// What is missing is ZENITH_NOT_FOUND, with what to do.
zenith_status zn_generator_open(const zn_generator_files *files, zn_generator **out, zn_error *err);
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
    double strength;   // with how.picture: how much of it is made anew, 0 < .. <= 1
    zn_generation how; // models, prompts and shift are the generator's: they are filled in
} zn_generator_call;

// Steps that `strength` leaves out.
int zn_generator_left_out(int steps, double strength);

typedef struct zn_generator_tokens {
    size_t whole, read; // of the prompt, in its template: before its end was cut off, and after
} zn_generator_tokens;

// Noise by the seed, then zn_generate. latent: [channels, height, width] of call->how, written in any case.
zenith_status zn_generator_run(zn_engine *engine, const zn_generator *generator,
                               const zn_generator_call *call, float *latent,
                               zn_generator_tokens *tokens, zn_error *err);

#endif
