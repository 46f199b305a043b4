// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Diffusion autoencoders. Experimental: this header may change with any version. The rules of
// zenith.h apply.
#ifndef ZENITH_DIFFAE_H
#define ZENITH_DIFFAE_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- diffusion autoencoders ----------------------------------------------------------------------

// A diffusion autoencoder encodes an image as a semantic code, which can be edited, mixed, sampled
// and classified, and as noise that holds the remaining detail. Open its model with
// zenith_model_open: a folder with config.json and safetensors files, as tools/convert.py --diffae
// writes it, or a file that zenith_diffae_join wrote.
//
//     zenith_code code = {.size = sizeof code, .width = 256, .height = 256,
//                         .code = numbers, .noise = floats};
//     if (zenith_diffae_encode(context, model, &image, &code, NULL) != ZENITH_OK) ...
//     zenith_diffae_edit(context, model, &code, 31, 0.3); // the classifier's attribute 31: Smiling
//     zenith_diffae_decode(context, model, &code, &image, NULL);
typedef struct zenith_diffae_info {
    size_t size;
    uint32_t width, height; // of the images that it was trained on
    uint32_t multiple;      // other widths and heights must be multiples of this many pixels
    uint32_t channels;      // of the noise
    uint32_t numbers;       // in a code
    uint32_t timesteps;     // that it was trained with: the largest number of denoising steps
    // Whether the weights allow zenith_diffae_encode, zenith_diffae_decode and
    // zenith_diffae_sample.
    bool has_encoder, has_decoder, has_prior;
    // For zenith_diffae_edit and zenith_diffae_classify. 0: there is no classifier.
    uint32_t attributes;
    // Image pixels per pixel of noise, along each side: more than 1 for models that work on
    // latents.
    uint32_t factor;
} zenith_diffae_info;
// ZENITH_INVALID_ARGUMENT for a model of another kind.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_get_info(zenith_context *context,
                                                                  const zenith_model *model,
                                                                  zenith_diffae_info *out);
// The name of an attribute, from the list "attributes" of config.json. NULL: the index is past the
// end, or the attribute has no name.
ZENITH_API const char *zenith_diffae_attribute(const zenith_model *model, size_t index);

// The code and the noise of an image. The arrays belong to the caller, except those from
// zenith_code_file_get.
typedef struct zenith_code {
    size_t size;
    uint32_t width, height; // of the image
    float *code;            // [zenith_diffae_info.numbers]
    // [channels][height / factor][width / factor]. NULL: there is none, or it is not needed.
    float *noise;
    uint32_t steps;   // denoising steps that made the noise, stored in files; 0: unknown
    uint32_t numbers; // length of `code`; 0: the model's
    // SHA-256 of the weights that made the code. Calls with other weights refuse it. NULL: unknown,
    // and not checked.
    const char *weights;
    size_t noise_numbers; // length of `noise`; 0: the model's for this size
} zenith_code;

// Progress of a call, reported after each denoising step.
typedef struct zenith_diffae_report {
    size_t size;
    uint32_t step, steps; // steps done, and steps in all
    double seconds;       // since the call began
    // A prediction of the finished image, for previews: F32, CHW; valid until the callback returns.
    // NULL when encoding and when sampling codes.
    const zenith_image *predicted;
} zenith_diffae_report;
// Return nonzero to stop: the call returns ZENITH_CANCELLED. Called from an executor thread. Do not
// call the same context from here, which would deadlock.
typedef int zenith_diffae_fn(void *cookie, const zenith_diffae_report *report);

// What a call used.
typedef struct zenith_diffae_facts {
    size_t size;
    zenith_dtype dtype;
    double seconds;
} zenith_diffae_facts;

typedef struct zenith_diffae_params {
    size_t size;
    // Denoising steps. 0: 250 to encode, 100 to decode, 200 to sample from a prior (as the authors
    // do) and 20 to sample from exemplars. Steps are evenly spaced timesteps, so not every number
    // is possible; a refusal names the nearest ones that are.
    uint32_t steps;
    uint64_t seed; // of random noise, as torch.randn on a CPU; zero is a seed like any other
    zenith_dtype dtype;
    uint64_t max_memory; // bounds each network by itself; 0: no bound
    zenith_diffae_fn *report;
    void *report_cookie;
    zenith_cancel *cancel;
    zenith_diffae_facts *facts; // filled on success, if not NULL
    // `report` gets no previews. For a model that works on latents, each takes a run of the
    // decoder.
    bool no_pictures;
    // zenith_diffae_encode with a sparse encoder: the share of the pixels that it sees, chosen at
    // random by the seed. 0: all. Below 1, code->noise must be NULL, because noise would hold the
    // whole image.
    float seen;
} zenith_diffae_params;

// Encodes an image of the code's width and height: writes its code and, unless code->noise is NULL,
// its noise, which takes most of the time. After a failure both are undefined. The row callback of
// an image without data is called on the calling thread. params may be NULL, here and below.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_encode(zenith_context *context,
                                                                zenith_model *model,
                                                                const zenith_image *image,
                                                                const zenith_code *code,
                                                                const zenith_diffae_params *params);

// Decodes a code into an image. If code->noise is NULL, noise is drawn from the seed, which gives
// another image with the same code.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_decode(zenith_context *context,
                                                                zenith_model *model,
                                                                const zenith_code *code,
                                                                const zenith_image *image,
                                                                const zenith_diffae_params *params);

// Moves a code in place towards an attribute, or away from it if `strength` is negative. strength
// is a fraction of the usual length of codes; 0.3 is clearly visible. The noise stays as it is. A
// model that samples from exemplars instead redraws the parts of the code that show the attribute,
// using exemplars that have it (or do not); 0.3 or more is the whole change, and 0.15 half of it.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_edit(zenith_context *context,
                                                              const zenith_model *model,
                                                              const zenith_code *code,
                                                              uint32_t attribute, double strength);

// Interpolates between two codes, with weight 0 (a) to 1 (b): codes along the straight line, noise
// along the arc. If `out` has noise, a and b must have noise of the same image size.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_mix(zenith_context *context,
                                                             const zenith_model *model,
                                                             const zenith_code *a,
                                                             const zenith_code *b, double weight,
                                                             const zenith_code *out);

// Samples codes from the prior, or from the exemplars of a model with linear codes, all in one
// batch. Code i depends on seed + i alone, whatever else is in the batch. So does its noise, which
// is drawn if the code has room for it.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_sample(zenith_context *context,
                                                                zenith_model *model,
                                                                const zenith_code *codes,
                                                                size_t count,
                                                                const zenith_diffae_params *params);

// The probability of each attribute: [count][attributes], 0 .. 1. Uses dtype, max_memory, cancel
// and facts of params.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_diffae_classify(zenith_context *context, zenith_model *model, const zenith_code *codes,
                       size_t count, float *probabilities, const zenith_diffae_params *params);

// A file with one code (docs/DIFFAE.md). path "-": standard input, which is read whole (at
// most 2 GiB).
typedef struct zenith_code_file zenith_code_file;
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_file_open(zenith_context *context,
                                                                 const char *path,
                                                                 zenith_code_file **out);
ZENITH_API void zenith_code_file_free(zenith_code_file *file);
// The arrays live as long as the file object. You may write to them; that does not change the file.
ZENITH_API void zenith_code_file_get(const zenith_code_file *file, zenith_code *out);

// Saves a code and its noise as safetensors. path "-": standard output.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_save(zenith_context *context,
                                                            const char *path,
                                                            const zenith_model *model,
                                                            const zenith_code *code);
// Saves codes without their noise, as one array [count, numbers]: npy if the path ends with .npy,
// otherwise the tensor "z" of a safetensors file. path "-": standard output.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_codes_save(zenith_context *context,
                                                             const char *path,
                                                             const zenith_model *model,
                                                             const zenith_code *codes,
                                                             size_t count);

// The codes of many images in one safetensors file, with names, mean and standard deviation
// (docs/DIFFAE.md), for training a prior and a classifier. Until the file is finished, the codes
// are stored in pieces in the folder PATH.parts, so that a run that was stopped or killed can be
// resumed. A set belongs to one thread at a time, and the model must outlive it.
typedef struct zenith_code_set zenith_code_set;
typedef struct zenith_code_set_params {
    size_t size;
    uint32_t width, height; // of the images; 0: the model's
    // true: zenith_code_set_reuse takes codes from the pieces and the file of an earlier run, which
    // must have been made with the same weights and image size. false: such pieces are removed.
    bool resume;
} zenith_code_set_params;
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_code_set_open(zenith_context *context, const char *path, const zenith_model *model,
                     const zenith_code_set_params *params, zenith_code_set **out);
ZENITH_API void zenith_code_set_free(zenith_code_set *set);
// Adds a row. code NULL: the image could not be read; its name is recorded, without a row.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_set_add(zenith_context *context,
                                                               zenith_code_set *set,
                                                               const char *name,
                                                               const zenith_code *code);
// Adds a row with the code that an earlier run stored under this name. *done is false if there was
// none; nothing is added then.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_set_reuse(zenith_context *context,
                                                                 zenith_code_set *set,
                                                                 const char *name, bool *done);
// whole: writes the file and removes the pieces. Otherwise writes the last piece, so that a later
// run can resume.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_set_finish(zenith_context *context,
                                                                  zenith_code_set *set, bool whole);

// Joins the results of training into one model: an autoencoder and, optionally, a prior (or
// exemplars) and a classifier that were trained on its codes.
typedef struct zenith_diffae_join_params {
    size_t size;
    const char *const *sources; // 1 to 3 folders or files of weights, in any order
    size_t count;
    // A file that ends with .safetensors, for zenith_model_open. config.json is stored inside.
    const char *output;
    zenith_number number; // of the weights: F32 (the default), F16, BF16, F8_E4M3 or F8_E5M2
    bool force;           // accept parts that were trained on codes of other weights
} zenith_diffae_join_params;
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_diffae_join(zenith_context *context, const zenith_diffae_join_params *params);

// --- structs with their defaults: zenith_TYPE_init(&it) ------------------------------------------

ZENITH_DEFINE_INIT(zenith_diffae_info)
ZENITH_DEFINE_INIT(zenith_code)
ZENITH_DEFINE_INIT(zenith_diffae_report)
ZENITH_DEFINE_INIT(zenith_diffae_facts)
ZENITH_DEFINE_INIT(zenith_diffae_params)
ZENITH_DEFINE_INIT(zenith_code_set_params)
ZENITH_DEFINE_INIT(zenith_diffae_join_params)

#ifdef __cplusplus
}
#endif
#endif
