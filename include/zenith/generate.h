// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Images from text, and weights in few bits. Experimental: this header may change with any version.
// The rules are those of zenith.h.
//
//     zenith_generator_params where = {.size = sizeof where, .folder = "Z-Image-Turbo"};
//     if (zenith_generator_open(context, &where, &generator) != ZENITH_OK)
//         puts(zenith_context_error(context)); // what is missing, and what to do
//
//     zenith_latent latent = {.size = sizeof latent, .width = 64, .height = 64, .channels = 16,
//                             .data = floats}; // [16][64][64], of a picture of 512 x 512
//     zenith_generate_params what = {.size = sizeof what, .prompt = "a red apple", .seed = 42};
//     if (zenith_generate(context, generator, &what, &latent) != ZENITH_OK) ...
//     zenith_decode(context, model, &latent, &image, 1, NULL); // any model of these latents
//
//     zenith_generator_free(generator);
#ifndef ZENITH_GENERATE_H
#define ZENITH_GENERATE_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- generators ----------------------------------------------------------------------------------

// The networks of a pipeline, and what is packed of their weights. It may be used by any number of
// contexts at once.
typedef struct zenith_generator zenith_generator;

typedef struct zenith_generator_params {
    size_t size;
    // A folder in diffusers' layout with a model_index.json, and the folders text_encoder,
    // tokenizer, transformer and scheduler that it names. Pipelines of Z-Image so far. Or the name
    // of such a folder where models are searched for (zenith_model_params.weights). NULL:
    // "zenith-words", which comes with the program; if transformer or text_encoder is named here,
    // "z-image-turbo" for the others.
    const char *folder;
    // Files or folders instead of the folder's own, each may be NULL: a safetensors file as ComfyUI
    // takes it, a GGUF file, or a folder in diffusers' layout.
    const char *transformer, *text_encoder;
    const char *tokenizer;   // NULL: also that of a GGUF file or a folder that text_encoder names
    const char *autoencoder; // what zenith_generator_info then names
    double shift; // of the schedule; 0: the folder's, or without a folder 3, Z-Image-Turbo's
} zenith_generator_params;

// Maps the weights; they are packed for the CPU when first used.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generator_open(
    zenith_context *context, const zenith_generator_params *params, zenith_generator **out);
ZENITH_API void zenith_generator_free(zenith_generator *generator);

typedef struct zenith_generator_info {
    size_t size;
    const char *name;    // of the transformer: "z-image"
    const char *text;    // of the text model: "qwen3"
    const char *latents; // a model that has the same latents: see zenith_models_share_latents
    // Of the pipeline's own autoencoder, for zenith_model_params.weights; NULL: there is none.
    const char *autoencoder;
    uint32_t latent_channels;
    uint32_t factor;     // picture pixels per latent pixel, along each side
    uint32_t multiple;   // pixels that both sides of a picture are multiples of
    double shift;        // of the schedule
    uint64_t parameters; // of both networks
    // Where several processes make pictures together (mpirun): which this is, from 0, and how many
    // there are. Each makes the same calls, and each gets the whole latent; pictures are the first
    // one's to write.
    uint32_t process, processes;
    uint32_t side; // of the pictures that it was made for, in pixels; 0: it does not say
    // What zenith_generate_params are best, by scheduler_config.json ("num_inference_steps",
    // "guidance_scale"), else 8 and 0, as for Z-Image-Turbo.
    uint32_t steps;
    double guidance;
    const char
        *pipeline; // "zenith-words" or "z-image-turbo", where its folder is called so; else NULL
} zenith_generator_info;
ZENITH_API void zenith_generator_get_info(const zenith_generator *generator,
                                          zenith_generator_info *out);

// --- pictures ------------------------------------------------------------------------------------

// Whose numbers a picture begins with, for the same seed.
typedef enum zenith_noise {
    ZENITH_NOISE_TORCH = 0, // torch.randn on a CPU
    ZENITH_NOISE_CUDA = 1   // torch.randn on a GPU by CUDA
} zenith_noise;

// How far a picture is, after each step.
typedef struct zenith_generate_report {
    size_t size;
    uint32_t step, steps; // steps that are done, of how many (of those that are made)
    double seconds;       // since the call began
    // As it is now: some of the noise is still there. F32, CHW; valid during the call.
    const zenith_latent *latent;
    // The picture that the step leads to, without noise: for previews. Likewise. After the last
    // step both are the same.
    const zenith_latent *predicted;
} zenith_generate_report;
// Not zero: stop, the call returns ZENITH_CANCELLED. Called from an executor thread. A call on the
// same context would wait for itself: previews are decoded by a context of their own.
typedef int zenith_generate_fn(void *cookie, const zenith_generate_report *report);

// What a call used.
typedef struct zenith_generate_facts {
    size_t size;
    zenith_dtype dtype;
    // Of the prompt in its template: all, and those that the text model has read. A prompt that is
    // too long loses its end.
    uint32_t tokens, tokens_read;
    double seconds;
    uint64_t weights_bytes; // packed weights that the generator holds after the call
    double prepare_seconds; // until the first step began
} zenith_generate_facts;

typedef struct zenith_generate_params {
    size_t size;
    const char *prompt;   // UTF-8
    const char *negative; // what shall not be in the picture; needs guidance; NULL: ""
    uint64_t seed;        // zero is a seed like any other
    uint32_t steps;       // 0: zenith_generator_info.steps
    // How much more the prompt counts than the negative prompt, as diffusers' guidance_scale of
    // Z-Image: the answer is p + guidance * (p - n), which others call a scale of 1 + guidance. 0:
    // none, as for Z-Image-Turbo; else each step takes twice as long.
    float guidance;
    zenith_noise noise;
    zenith_dtype dtype;
    // Bounds working memory, packed weights and buffers: where both networks' weights do not fit,
    // one's are freed. A call that cannot fit fails with ZENITH_LIMIT and the bytes that it needs.
    // 0: no bound.
    uint64_t max_memory;
    zenith_generate_fn *report;
    void *report_cookie;
    zenith_cancel *cancel;
    zenith_generate_facts *facts; // filled on success, if not NULL
    // A picture to begin with, as its latent (what zenith_encode gives, as F32, CHW, of the size
    // that is made); NULL: noise alone.
    const zenith_latent *picture;
    // How much of it is made anew, 0 < .. <= 1; 0: 0.6. The first steps are left out: of 8, 0.6
    // makes the last 5, as diffusers does. 1 leaves nothing of the picture: the same bits as
    // without it.
    double strength;
    // Packed weights of both networks that the generator may hold at once: where they would be
    // more, those of the text model are freed before the transformer's are made. What the text
    // model said to the last prompts is kept, so the next picture of one of them does not need it.
    // 0: max_memory.
    uint64_t held_memory;
} zenith_generate_params;

// Makes a picture's latent, which zenith_decode takes with any model of these latents. latent:
// `data` for F32, CHW; its width and height are the picture's divided by
// zenith_generator_info.factor. After a failure its numbers are undefined.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generate(zenith_context *context,
                                                           zenith_generator *generator,
                                                           const zenith_generate_params *params,
                                                           const zenith_latent *latent);

// --- memory --------------------------------------------------------------------------------------

// What a call will take, before anything is packed: the least, as far as the weights' files tell.
// Working memory, which is small beside the weights, comes on top.
typedef struct zenith_generate_needs {
    size_t size;
    uint64_t text_bytes, transformer_bytes; // packed weights
    uint64_t buffer_bytes;                  // latents, and what prompts and steps are turned into
} zenith_generate_needs;

// Of params: dtype, steps and guidance; of latent: width and height. Returns at once.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generate_get_needs(
    zenith_context *context, zenith_generator *generator, const zenith_generate_params *params,
    const zenith_latent *latent, zenith_generate_needs *out);

// Lets the text model read prompts ahead, at most 32, and keeps what it said to them: where there
// is no room for both networks, pictures of several prompts then need no weights packed again and
// again. Of params: dtype, max_memory, held_memory and cancel. A prompt that is refused is left
// out: its own call says why.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generator_read(
    zenith_context *context, zenith_generator *generator, const zenith_generate_params *params,
    const char *const *prompts, size_t count);

// Frees the packed weights, such as before a picture is decoded: the next call packs them again.
// Those that a call of another context uses go when that is over and its plans are.
ZENITH_API void zenith_generator_trim(zenith_context *context, zenith_generator *generator);

// --- weights in few bits -------------------------------------------------------------------------

typedef enum zenith_recipe {
    // 4 bits for most matrices; 8 for those that bear rounding worst (projections down, refiners,
    // modulation,
    // the last layers of text models); embedders, norms and last layers in floating numbers.
    ZENITH_RECIPE_MIXED = 0,
    ZENITH_RECIPE_Q4 = 1, // all matrices that the mixed recipe rounds in 4 bits
    ZENITH_RECIPE_Q8 = 2  // in 8
} zenith_recipe;

// How far a conversion is.
typedef struct zenith_convert_report {
    size_t size;
    const char *part;      // the pipeline's component in work; "" where the source is one model
    const char *tensor;    // in work
    uint32_t index, count; // which of how many models that are converted
    uint64_t done, bytes;  // of this model's source: read, and all
} zenith_convert_report;
// Not zero: stop, the call returns ZENITH_CANCELLED. Called from an executor thread.
typedef int zenith_convert_fn(void *cookie, const zenith_convert_report *report);

typedef struct zenith_convert_params {
    size_t size;
    // A pipeline's folder, the folder of one model, or its file: safetensors under the names of
    // diffusers or ComfyUI, or GGUF; in floating numbers or quantised in any form that
    // zenith_inspect names. Models: qwen3 and z-image.
    const char *source;
    // A folder, which is made: of a pipeline the whole pipeline, with the other components copied;
    // of a model its weights and config.json. Of a model also a file whose name ends with
    // .safetensors.
    const char *output;
    zenith_recipe recipe;
    // Rows are rotated in runs of 256 inputs before they are rounded, which spreads columns that
    // are much larger than others. true: they are not.
    bool unrotated;
    zenith_convert_fn *report;
    void *report_cookie;
    zenith_cancel *cancel;
} zenith_convert_params;

// Writes weights in the layout that products read, so that a program maps the file and uses it as
// it lies (docs/FORMATS.md). The same source gives the same bytes. Files are written beside their
// final names and renamed. *out: what was written, as JSON text: bytes before and after, bits per
// weight, and for each class of weights the mean relative error of its matrices. Free it with
// zenith_text_free; out NULL: not wanted.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_convert(zenith_context *context,
                                                          const zenith_convert_params *params,
                                                          char **out);

// --- structs with their defaults: zenith_TYPE_init(&it) ------------------------------------------

ZENITH_DEFINE_INIT(zenith_generator_params)
ZENITH_DEFINE_INIT(zenith_generator_info)
ZENITH_DEFINE_INIT(zenith_generate_report)
ZENITH_DEFINE_INIT(zenith_generate_facts)
ZENITH_DEFINE_INIT(zenith_generate_params)
ZENITH_DEFINE_INIT(zenith_generate_needs)
ZENITH_DEFINE_INIT(zenith_convert_report)
ZENITH_DEFINE_INIT(zenith_convert_params)

#ifdef __cplusplus
}
#endif
#endif
