// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Diffusion autoencoders. Experimental: this header may change with any version. The rules are
// those of zenith.h.
#ifndef ZENITH_DIFFAE_H
#define ZENITH_DIFFAE_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- diffusion autoencoders ----------------------------------------------------------------------

// A diffusion autoencoder turns a picture into a semantic code, which can be moved, mixed, drawn
// and classified, and into noise that holds the rest. Its model is opened by zenith_model_open,
// from a folder with config.json and safetensors as tools/convert.py --diffae writes it.
//
//     zenith_code code = {.size = sizeof code, .width = 256, .height = 256, .code = numbers, .noise
//     = floats}; if (zenith_diffae_encode(context, model, &image, &code, NULL) != ZENITH_OK) ...
//     zenith_diffae_edit(context, model, &code, 31, 0.3); // attribute 31 of the classifier:
//     Smiling zenith_diffae_decode(context, model, &code, &image, NULL);
typedef struct zenith_diffae_info {
    size_t size;
    uint32_t width, height; // of pictures, as it was trained
    uint32_t multiple;      // that other widths and heights are
    uint32_t channels;      // of noise
    uint32_t numbers;       // of a code
    uint32_t timesteps;     // that it was trained with, the most steps that there can be
    // What the weights have: zenith_diffae_encode, zenith_diffae_decode, zenith_diffae_sample.
    bool has_encoder, has_decoder, has_prior;
    uint32_t attributes; // zenith_diffae_edit, zenith_diffae_classify; 0: there is no classifier
    uint32_t factor;     // pixels of a picture along each side of one of the noise: 1, or more for
                         // models of latents
} zenith_diffae_info;
// ZENITH_INVALID_ARGUMENT for a model of another kind.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_get_info(zenith_context *context,
                                                                  const zenith_model *model,
                                                                  zenith_diffae_info *out);
// What an attribute is called, by the list "attributes" of config.json; NULL: past the end, or it
// has no name.
ZENITH_API const char *zenith_diffae_attribute(const zenith_model *model, size_t index);

// A picture as its code and its noise. The arrays are the caller's, but for those that a file hands
// out.
typedef struct zenith_code {
    size_t size;
    uint32_t width, height; // of the picture
    float *code;            // [zenith_diffae_info.numbers]
    float *noise;   // [channels][height / factor][width / factor]; NULL: it is not wanted, or there
                    // is none
    uint32_t steps; // to the noise, for the file; 0: not known
    uint32_t numbers; // of `code`, 0: as many as the model's
    // SHA-256 of the weights that made it: calls with other weights refuse it. NULL: not known, and
    // not looked at.
    const char *weights;
    size_t noise_numbers; // of `noise`; 0: as many as the model's for this size
} zenith_code;

// How far a call is, after each step.
typedef struct zenith_diffae_report {
    size_t size;
    uint32_t step, steps; // steps that are done, of how many
    double seconds;       // since the call began
    // The picture that the step leads to, for previews: F32, CHW; valid during the call. NULL on
    // the way to noise and for codes of the prior.
    const zenith_image *predicted;
} zenith_diffae_report;
// Not zero: stop, the call returns ZENITH_CANCELLED. Called from an executor thread: see
// zenith_generate_fn.
typedef int zenith_diffae_fn(void *cookie, const zenith_diffae_report *report);

// What a call used.
typedef struct zenith_diffae_facts {
    size_t size;
    zenith_dtype dtype;
    double seconds;
} zenith_diffae_facts;

typedef struct zenith_diffae_params {
    size_t size;
    // 0: 250 to the noise, 100 back, 200 of the prior, as the authors have it; 20 by known
    // pictures. Of 1000 timesteps not every number can be; a failure names the nearest that can.
    uint32_t steps;
    uint64_t seed; // of noise that is drawn, torch's on a CPU; zero is a seed like any other
    zenith_dtype dtype;
    uint64_t max_memory; // of each network by itself; 0: no bound
    zenith_diffae_fn *report;
    void *report_cookie;
    zenith_cancel *cancel;
    zenith_diffae_facts *facts; // filled on success, if not NULL
    bool
        no_pictures; // `report` gets none: of a model of latents, each takes a run of their decoder
    // Of zenith_diffae_encode, by a model whose encoder is sparse: the share of pixels that it
    // sees, drawn by the seed; 0: all. Below 1 there is no noise, which would hold the whole
    // picture.
    float seen;
} zenith_diffae_params;

// A picture (any zenith_image) to its code and, unless `noise` is NULL, its noise, which takes most
// of the time. `code` and `noise` are written; after a failure they are undefined. params may be
// NULL, here and below. Rows of an image that has no data are moved on the calling thread.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_encode(zenith_context *context,
                                                                zenith_model *model,
                                                                const zenith_image *image,
                                                                const zenith_code *code,
                                                                const zenith_diffae_params *params);

// And back. A code without noise gets that of the seed: another picture of the same code.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_decode(zenith_context *context,
                                                                zenith_model *model,
                                                                const zenith_code *code,
                                                                const zenith_image *image,
                                                                const zenith_diffae_params *params);

// Moves the numbers of a code towards an attribute, or with a negative strength away from it, by
// `strength` of the usual length of codes; 0.3 shows. The noise stays. A model that draws codes by
// known pictures draws what tells of the attribute anew, by those of them that have it (or have it
// not): 0.3 and more is all of that, 0.15 half of the way.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_edit(zenith_context *context,
                                                              const zenith_model *model,
                                                              const zenith_code *code,
                                                              uint32_t attribute, double strength);

// Between two codes of one size, weight 0 (a) .. 1 (b): codes on the straight line, noise on the
// arc. Both have noise, or `out` has none.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_mix(zenith_context *context,
                                                             const zenith_model *model,
                                                             const zenith_code *a,
                                                             const zenith_code *b, double weight,
                                                             const zenith_code *out);

// Draws codes by the prior, or by the known pictures of a model with linear codes, all at once.
// Code i is that of seed + i, alone and among others, and so is its noise, if there is room for it.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_sample(zenith_context *context,
                                                                zenith_model *model,
                                                                const zenith_code *codes,
                                                                size_t count,
                                                                const zenith_diffae_params *params);

// How probable each attribute is: [count][attributes], 0 .. 1. Of params: dtype, max_memory and
// cancel.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_diffae_classify(zenith_context *context, zenith_model *model, const zenith_code *codes,
                       size_t count, float *probabilities, const zenith_diffae_params *params);

// A file with one code (docs/DIFFAE.md). path "-": standard input, read whole.
typedef struct zenith_code_file zenith_code_file;
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_file_open(zenith_context *context,
                                                                 const char *path,
                                                                 zenith_code_file **out);
ZENITH_API void zenith_code_file_free(zenith_code_file *file);
// The arrays live as long as the file. They may be written to, which does not change the file.
ZENITH_API void zenith_code_file_get(const zenith_code_file *file, zenith_code *out);

// Saves a code and its noise as safetensors. path "-": standard output.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_save(zenith_context *context,
                                                            const char *path,
                                                            const zenith_model *model,
                                                            const zenith_code *code);
// Saves the numbers of codes alone, as one array [count, numbers]: npy where the path ends with
// .npy, else the tensor "z" of a safetensors file.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_codes_save(zenith_context *context,
                                                             const char *path,
                                                             const zenith_model *model,
                                                             const zenith_code *codes,
                                                             size_t count);

// The codes of many pictures in one safetensors file, with names, mean and deviation
// (docs/DIFFAE.md): what the prior and the classifier are trained on. What was added lies in pieces
// in the folder PATH.parts until the end, so that a run that was stopped, killed even, can go on.
// One thread at a time; the model must outlive the set.
typedef struct zenith_code_set zenith_code_set;
typedef struct zenith_code_set_params {
    size_t size;
    uint32_t width, height; // of the pictures; 0: the model's
    bool resume; // take codes from the pieces, and from the file itself, for zenith_code_set_reuse;
                 // else pieces are removed
} zenith_code_set_params;
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_code_set_open(zenith_context *context, const char *path, const zenith_model *model,
                     const zenith_code_set_params *params, zenith_code_set **out);
ZENITH_API void zenith_code_set_free(zenith_code_set *set);
// The next row. code NULL: the picture could not be read; its name is kept, and it has no row.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_set_add(zenith_context *context,
                                                               zenith_code_set *set,
                                                               const char *name,
                                                               const zenith_code *code);
// The same with the code that an earlier run had of this name; *done false: it had none, and
// nothing is added.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_set_reuse(zenith_context *context,
                                                                 zenith_code_set *set,
                                                                 const char *name, bool *done);
// Writes the file and removes the pieces; or, where it is not whole, writes the last piece.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_set_finish(zenith_context *context,
                                                                  zenith_code_set *set, bool whole);

// What training leaves, as one model: the folder of an autoencoder, and those of a prior and of a
// classifier that were trained on its codes, in any order.
typedef struct zenith_diffae_join_params {
    size_t size;
    const char *const *sources;
    size_t count;
    const char *output; // a file that ends with .safetensors, which zenith_model_open takes; it has
                        // config.json inside
    zenith_number number; // of the weights: F32 (also 0), F16, BF16, F8_E4M3, F8_E5M2
    bool force;           // take what was trained on codes of other weights
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
