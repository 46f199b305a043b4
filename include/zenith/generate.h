// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Images from text, and quantised weights. Experimental: this header may change with any version.
// The rules of zenith.h apply.
//
//     zenith_generator_params where = {.size = sizeof where, .folder = "Z-Image-Turbo"};
//     if (zenith_generator_open(context, &where, &generator) != ZENITH_OK)
//         puts(zenith_context_error(context)); // what is missing, and what to do
//
//     zenith_latent latent = {.size = sizeof latent, .width = 64, .height = 64, .channels = 16,
//                             .data = floats}; // [16][64][64], for an image of 512 x 512
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

// The networks of a pipeline and their packed weights. Any number of contexts may use one generator
// at the same time.
typedef struct zenith_generator zenith_generator;

typedef struct zenith_generator_params {
    size_t size;
    // The pipeline: a folder in diffusers' layout, with a model_index.json and the folders
    // text_encoder, tokenizer, transformer and scheduler that it names, or the name of such a
    // folder on the search path (zenith_model_params.weights). Only pipelines of Z-Image are
    // supported. NULL: the bundled "zenith-words", or "z-image-turbo" if that is missing. If
    // `transformer` or `text_encoder` is set, NULL means "z-image-turbo" for the remaining parts.
    const char *folder;
    // Files or folders that replace those of the pipeline, or NULL: a safetensors file as ComfyUI
    // uses it, a GGUF file, or a folder in diffusers' layout.
    const char *transformer, *text_encoder;
    // NULL: the tokenizer of `text_encoder`, if that is a GGUF file or a folder with a tokenizer,
    // otherwise the pipeline's.
    const char *tokenizer;
    const char *autoencoder; // replaces the path in zenith_generator_info; must exist
    double shift;            // of the noise schedule; 0: the pipeline's, or 3 without a pipeline
} zenith_generator_params;

// Maps the weights into memory; they are packed for the CPU on first use. ZENITH_NOT_FOUND: a part
// is missing, and the message says which.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generator_open(
    zenith_context *context, const zenith_generator_params *params, zenith_generator **out);
ZENITH_API void zenith_generator_free(zenith_generator *generator);

typedef struct zenith_generator_info {
    size_t size;
    const char *name;    // the transformer: "z-image"
    const char *text;    // the text model: "qwen3"
    const char *latents; // a model with the same latents: see zenith_models_share_latents
    // The pipeline's own autoencoder, for zenith_model_params.weights. NULL: it has none.
    const char *autoencoder;
    uint32_t latent_channels;
    uint32_t factor;     // image pixels per latent pixel, along each side
    uint32_t multiple;   // both sides of an image must be multiples of this many pixels
    double shift;        // of the noise schedule
    uint64_t parameters; // of both networks
    // When several processes generate one image together (mpirun): the number of this one, from 0,
    // and how many there are. All must make the same calls. Each gets the whole latent, and only
    // process 0 should write the image.
    uint32_t process, processes;
    // Side in pixels of the images that the model was trained on; 0: unknown. Some models, such as
    // the one in "zenith-words", make images of this size only.
    uint32_t side;
    // Recommended values for zenith_generate_params, from the pipeline's scheduler_config.json
    // ("num_inference_steps", "guidance_scale"). Default: 8 steps and no guidance, as for
    // Z-Image-Turbo.
    uint32_t steps;
    double guidance;
    // "zenith-words" or "z-image-turbo" if the pipeline's folder has that name, otherwise NULL.
    const char *pipeline;
} zenith_generator_info;
ZENITH_API void zenith_generator_get_info(const zenith_generator *generator,
                                          zenith_generator_info *out);

// --- images --------------------------------------------------------------------------------------

// The random number generator that turns the seed into the initial noise.
typedef enum zenith_noise {
    ZENITH_NOISE_TORCH = 0, // torch.randn on a CPU
    ZENITH_NOISE_CUDA = 1   // torch.randn on a CUDA GPU
} zenith_noise;

// Progress of a call, reported after each denoising step.
typedef struct zenith_generate_report {
    size_t size;
    uint32_t step, steps; // steps done, and steps in all; those that `strength` skips do not count
    double seconds;       // since the call began
    // The latent so far, which still has some noise. F32, CHW; valid until the callback returns.
    const zenith_latent *latent;
    // A prediction of the finished latent, for previews, in the same format. After the last step it
    // equals `latent`.
    const zenith_latent *predicted;
} zenith_generate_report;
// Return nonzero to stop: the call returns ZENITH_CANCELLED. Called from an executor thread. Do not
// call the same context from here, which would deadlock: decode previews with a second context.
typedef int zenith_generate_fn(void *cookie, const zenith_generate_report *report);

// What a call used.
typedef struct zenith_generate_facts {
    size_t size;
    zenith_dtype dtype;
    // Tokens of the prompt in its template, and how many of them the text model has read: the end
    // of a prompt that is too long is cut off.
    uint32_t tokens, tokens_read;
    double seconds;
    uint64_t weights_bytes; // packed weights that the generator holds after the call
    double prepare_seconds; // from the beginning of the call to the first step
} zenith_generate_facts;

typedef struct zenith_generate_params {
    size_t size;
    const char *prompt;   // UTF-8
    const char *negative; // what the image should not show; needs guidance; NULL: ""
    uint64_t seed;        // zero is a seed like any other
    uint32_t steps;       // denoising steps; 0: zenith_generator_info.steps
    // Weight of the prompt against the negative prompt, as diffusers' guidance_scale for Z-Image:
    // the prediction is p + guidance * (p - n), which other programs call a scale of 1 + guidance.
    // 0: no guidance, whatever zenith_generator_info.guidance is. Any other value makes each step
    // take twice as long.
    float guidance;
    zenith_noise noise;
    zenith_dtype dtype;
    // Bounds working memory, packed weights and buffers. If the weights of both networks do not fit
    // together, those of one are freed before the other runs. A call that cannot fit fails with
    // ZENITH_LIMIT and the number of bytes it needs. 0: no bound.
    uint64_t max_memory;
    zenith_generate_fn *report;
    void *report_cookie;
    zenith_cancel *cancel;
    zenith_generate_facts *facts; // filled on success, if not NULL
    // An image to start from, as the latent that zenith_encode gives: F32, CHW, of the same size as
    // the result. NULL: start from noise alone.
    const zenith_latent *picture;
    // How much of `picture` is regenerated, above 0 and up to 1. 0: 0.6. The first steps are
    // skipped: of 8 steps, 0.6 leaves the last 5, as in diffusers. 1 keeps nothing of the image and
    // gives the same bits as no image.
    double strength;
    // Bytes of packed weights of both networks that the generator may hold at once. If they would
    // need more, those of the text model are freed before the transformer's are packed. The text
    // model's output for the last 32 prompts is kept, so another image of one of these prompts does
    // not need the text model. 0: max_memory.
    uint64_t held_memory;
} zenith_generate_params;

// Generates the latent of an image; zenith_decode turns it into pixels with any model that has
// these latents. latent: has `data` for F32 numbers in the order CHW; its width and height are the
// image's divided by zenith_generator_info.factor. After a failure its numbers are undefined.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generate(zenith_context *context,
                                                           zenith_generator *generator,
                                                           const zenith_generate_params *params,
                                                           const zenith_latent *latent);

// --- memory --------------------------------------------------------------------------------------

// The least memory that a call will need, estimated from the weights' files before anything is
// packed. Working memory, which is small compared with the weights, is not included.
typedef struct zenith_generate_needs {
    size_t size;
    uint64_t text_bytes, transformer_bytes; // packed weights
    uint64_t buffer_bytes;                  // buffers for latents, prompts and steps
} zenith_generate_needs;

// Uses dtype, steps and guidance of params, and width and height of latent. Packs and computes
// nothing.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generate_get_needs(
    zenith_context *context, zenith_generator *generator, const zenith_generate_params *params,
    const zenith_latent *latent, zenith_generate_needs *out);

// Runs the text model on the first 32 of the prompts and keeps its output for later calls of
// zenith_generate. If there is no room for both networks, images of several prompts then do not
// need the weights packed again for each prompt. Uses dtype, max_memory, held_memory and cancel of
// params. An invalid prompt is skipped: the zenith_generate call with it reports why.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generator_read(
    zenith_context *context, zenith_generator *generator, const zenith_generate_params *params,
    const char *const *prompts, size_t count);

// Frees the packed weights, for example to make room for decoding; the next call packs them again.
// Weights that another context uses are freed when its call is over and its plans are gone.
ZENITH_API void zenith_generator_trim(zenith_context *context, zenith_generator *generator);

// --- quantised weights ---------------------------------------------------------------------------

typedef enum zenith_recipe {
    // 4 bits for most matrices, and 8 bits for those that suffer most from rounding: down
    // projections, refiners, modulation, and the last layers of text models. Embedders, norms and
    // output layers stay in floating point.
    ZENITH_RECIPE_MIXED = 0,
    ZENITH_RECIPE_Q4 = 1, // 4 bits for all matrices that the mixed recipe quantises
    ZENITH_RECIPE_Q8 = 2  // 8 bits for all of them
} zenith_recipe;

// Progress of a conversion.
typedef struct zenith_convert_report {
    size_t size;
    const char *part;      // the pipeline's component being converted; "": the source is one model
    const char *tensor;    // the tensor being converted
    uint32_t index, count; // the model being converted, from 0, and the number of models
    uint64_t done, bytes;  // bytes of this model's source: read so far, and in all
} zenith_convert_report;
// Return nonzero to stop: the call returns ZENITH_CANCELLED. Called from an executor thread.
typedef int zenith_convert_fn(void *cookie, const zenith_convert_report *report);

typedef struct zenith_convert_params {
    size_t size;
    // A pipeline's folder, or the folder or file of one model: safetensors with the tensor names of
    // diffusers or ComfyUI, or GGUF, in floating point or in any quantised format that
    // zenith_inspect names. The models qwen3 and z-image can be converted.
    const char *source;
    // A folder, created if it does not exist. It gets the whole pipeline, with the other components
    // copied, or the weights and config.json of one model. For one model it may also be a file that
    // ends with .safetensors, which gets the weights alone.
    const char *output;
    zenith_recipe recipe;
    // false: rows are rotated in runs of 256 inputs before rounding, which spreads columns that are
    // much larger than others. true: they are rounded as they are.
    bool unrotated;
    zenith_convert_fn *report;
    void *report_cookie;
    zenith_cancel *cancel;
} zenith_convert_params;

// Writes quantised weights in the layout that the matrix kernels read, so that the file can be
// memory-mapped and used directly (docs/FORMATS.md). The same source gives the same bytes. Each
// file gets its name only when it is finished. *out becomes a report as JSON text: bytes before and
// after, bits per weight, and the mean relative error of the matrices of each class of weights.
// Free it with zenith_text_free. out may be NULL.
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
