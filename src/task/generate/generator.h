// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A generator: what makes pictures from text, from a folder of a whole pipeline (model/pipeline.h),
// from files by themselves, or from both. Any number of engines may use it: after it is opened only
// its memory changes, which has its own lock.
#ifndef ZN_TASK_GENERATE_GENERATOR_H
#define ZN_TASK_GENERATE_GENERATOR_H

#include "src/diffusion/noise.h"
#include "src/format/pipeline/schedule_config.h"
#include "src/model/locate.h"
#include "src/task/generate/memory.h"
#include "src/task/generate/together.h"
#include "src/text/tokenizer.h"

typedef struct zn_generator {
    zn_model *text, *transformer;
    zn_tokenizer *tokenizer;
    zn_together *together; // with other processes, and then one call at a time; NULL: alone
    zn_schedule_config schedule;
    zn_generator_memory memory;
    // The pipeline's own autoencoder, a folder or a file; "": it has none.
    char autoencoder[ZN_PATH_SIZE];
    const char *name; // of the pipeline; NULL: it has none
} zn_generator;

// Where its parts are. Each is a file or a folder; NULL: in the pipeline's folder.
typedef struct zn_generator_files {
    // The pipeline, or its name where models are searched for (model/locate.h); NULL:
    // "zenith-words", if transformer and text_encoder are NULL too and it is there; else
    // "z-image-turbo", if a part is still missing.
    const char *folder;
    const char *transformer, *text_encoder;
    const char *tokenizer; // NULL: also in a GGUF file or a folder of text_encoder
    const char *autoencoder;
    // Of the schedule; 0: the pipeline's, and without a pipeline that of Z-Image-Turbo.
    double shift;
} zn_generator_files;

// What is missing is ZENITH_NOT_FOUND, with what to do.
zenith_status zn_generator_open(const zn_generator_files *files, zn_generator **out, zn_error *err);
void zn_generator_free(zn_generator *generator); // NULL is fine

// The model whose latents these are.
const zn_variant *zn_generator_latents(const zn_generator *generator);
// The side of pictures that it was made for, by "sample_size" of the transformer's config.json,
// which counts pixels of latents; 0: it does not say.
uint32_t zn_generator_side(const zn_generator *generator);
// Picture pixels that the sides of pictures are multiples of, and latent pixels of the longest
// side.
uint32_t zn_generator_multiple(const zn_generator *generator);
enum { ZN_GENERATOR_MOST_SIDE = 1 << 14 };

typedef struct zn_generator_call {
    const char *prompt, *negative; // UTF-8; negative may be NULL, which is ""
    uint64_t seed;
    zn_noise noise;
    double strength; // with how.picture: how much of it is made anew, 0 < .. <= 1
    // Packed weights of both networks that may be held at once: where they are more, those of the
    // text model go before the transformer's are made. 0: no bound.
    uint64_t held;
    zn_generation
        how; // models, prompts, captions and shift are the generator's: they are filled in
} zn_generator_call;

// Steps that `strength` leaves out.
int zn_generator_left_out(int steps, double strength);

typedef struct zn_generator_tokens {
    size_t whole, read; // of the prompt, in its template: before its end was cut off, and after
} zn_generator_tokens;

// What a call takes, before it is made: the least, as far as the weights' files tell
// (zn_model_least_bytes).
typedef struct zn_generator_needs {
    uint64_t text, transformer; // packed weights
    uint64_t buffers;           // latents and what prompts and steps are turned into
} zn_generator_needs;
zn_generator_needs zn_generator_needs_of(zn_engine *engine, const zn_generator *generator,
                                         const zn_generator_call *call);

// Lets the text model read prompts ahead, up to ZN_CAPTIONS_KEPT, so that it need not be packed
// again for each where there is no room for both networks. Of `call`: held, cancel, dtype and
// max_memory. A prompt that is refused is left out: its own call says why.
zenith_status zn_generator_read(zn_engine *engine, zn_generator *generator,
                                const zn_generator_call *call, const char *const *prompts,
                                size_t count, zn_error *err);

// Packed weights that are held now.
uint64_t zn_generator_held(zn_generator *generator);
// Frees what is packed, once no plan of another engine has it. No job of `engine` may be running,
// in both.
void zn_generator_trim(zn_engine *engine, zn_generator *generator);

// Noise by the seed, then zn_generate. latent: [channels, height, width] of call->how, written in
// any case.
zenith_status zn_generator_run(zn_engine *engine, zn_generator *generator,
                               const zn_generator_call *call, float *latent,
                               zn_generator_tokens *tokens, zn_error *err);

#endif
