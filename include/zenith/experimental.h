// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is new, and may still change with any version: pictures from text, weights in few bits, diffusion
// autoencoders, tokenizers, datasets of latents, jobs, and files in memory. The rules are those of zenith.h.
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
#ifndef ZENITH_EXPERIMENTAL_H
#define ZENITH_EXPERIMENTAL_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- generators ---------------------------------------------------------------------------------

// The networks of a pipeline, and what is packed of their weights. It may be used by any number of contexts at once.
typedef struct zenith_generator zenith_generator;

typedef struct zenith_generator_params {
    size_t size;
    // A folder in diffusers' layout with a model_index.json, and the folders text_encoder, tokenizer, transformer and
    // scheduler that it names. Pipelines of Z-Image so far. Or the name of such a folder where models are searched
    // for (zenith_model_params.weights). NULL: "zenith-words", which comes with the program; if transformer or
    // text_encoder is named here, "z-image-turbo" for the others.
    const char *folder;
    // Files or folders instead of the folder's own, each may be NULL: a safetensors file as ComfyUI takes it, a GGUF
    // file, or a folder in diffusers' layout.
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
    // Where several processes make pictures together (mpirun): which this is, from 0, and how many there are. Each
    // makes the same calls, and each gets the whole latent; pictures are the first one's to write.
    uint32_t process, processes;
    uint32_t side; // of the pictures that it was made for, in pixels; 0: it does not say
    // What zenith_generate_params are best, by scheduler_config.json ("num_inference_steps", "guidance_scale"), else 8 and
    // 0, as for Z-Image-Turbo.
    uint32_t steps;
    double guidance;
    const char
        *pipeline; // "zenith-words" or "z-image-turbo", where its folder is called so; else NULL
} zenith_generator_info;
ZENITH_API void zenith_generator_get_info(const zenith_generator *generator,
                                          zenith_generator_info *out);

// --- pictures -----------------------------------------------------------------------------------

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
    // The picture that the step leads to, without noise: for previews. Likewise. After the last step both are the same.
    const zenith_latent *predicted;
} zenith_generate_report;
// Not zero: stop, the call returns ZENITH_CANCELLED. Called from an executor thread. A call on the same context would
// wait for itself: previews are decoded by a context of their own.
typedef int zenith_generate_fn(void *cookie, const zenith_generate_report *report);

// What a call used.
typedef struct zenith_generate_facts {
    size_t size;
    zenith_dtype dtype;
    // Of the prompt in its template: all, and those that the text model has read. A prompt that is too long loses its
    // end.
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
    // How much more the prompt counts than the negative prompt, as diffusers' guidance_scale of Z-Image: the answer is
    // p + guidance * (p - n), which others call a scale of 1 + guidance. 0: none, as for Z-Image-Turbo; else
    // each step takes twice as long.
    float guidance;
    zenith_noise noise;
    zenith_dtype dtype;
    // Bounds working memory, packed weights and buffers: where both networks' weights do not fit, one's are freed. A call
    // that cannot fit fails with ZENITH_LIMIT and the bytes that it needs. 0: no bound.
    uint64_t max_memory;
    zenith_generate_fn *report;
    void *report_cookie;
    zenith_cancel *cancel;
    zenith_generate_facts *facts; // filled on success, if not NULL
    // A picture to begin with, as its latent (what zenith_encode gives, as F32, CHW, of the size that is made); NULL:
    // noise alone.
    const zenith_latent *picture;
    // How much of it is made anew, 0 < .. <= 1; 0: 0.6. The first steps are left out: of 8, 0.6 makes the last 5, as
    // diffusers does. 1 leaves nothing of the picture: the same bits as without it.
    double strength;
    // Packed weights of both networks that the generator may hold at once: where they would be more, those of the text
    // model are freed before the transformer's are made. What the text model said to the last prompts is kept, so the
    // next picture of one of them does not need it. 0: max_memory.
    uint64_t held_memory;
} zenith_generate_params;

// Makes a picture's latent, which zenith_decode takes with any model of these latents. latent: `data` for F32, CHW;
// its width and height are the picture's divided by zenith_generator_info.factor. After a failure its numbers
// are undefined.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generate(zenith_context *context,
                                                           zenith_generator *generator,
                                                           const zenith_generate_params *params,
                                                           const zenith_latent *latent);

// --- weights in few bits ------------------------------------------------------------------------

typedef enum zenith_recipe {
    // 4 bits for most matrices; 8 for those that bear rounding worst (projections down, refiners, modulation,
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
    // A pipeline's folder, the folder of one model, or its file: safetensors under the names of diffusers or
    // ComfyUI, or GGUF; in floating numbers or quantised in any form that zenith_inspect names. Models: qwen3 and
    // z-image.
    const char *source;
    // A folder, which is made: of a pipeline the whole pipeline, with the other components copied; of a model its
    // weights and config.json. Of a model also a file whose name ends with .safetensors.
    const char *output;
    zenith_recipe recipe;
    // Rows are rotated in runs of 256 inputs before they are rounded, which spreads columns that are much larger than
    // others. true: they are not.
    bool unrotated;
    zenith_convert_fn *report;
    void *report_cookie;
    zenith_cancel *cancel;
} zenith_convert_params;

// Writes weights in the layout that products read, so that a program maps the file and uses it as it lies
// (docs/FORMATS.md). The same source gives the same bytes. Files are written beside their final names and
// renamed. *out: what was written, as JSON text: bytes before and after, bits per weight, and for each class of weights
// the mean relative error of its matrices. Free it with zenith_text_free; out NULL: not wanted.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_convert(zenith_context *context,
                                                          const zenith_convert_params *params,
                                                          char **out);

// --- memory -------------------------------------------------------------------------------------

// What a call will take, before anything is packed: the least, as far as the weights' files tell. Working memory, which
// is small beside the weights, comes on top.
typedef struct zenith_generate_needs {
    size_t size;
    uint64_t text_bytes, transformer_bytes; // packed weights
    uint64_t buffer_bytes;                  // latents, and what prompts and steps are turned into
} zenith_generate_needs;

// Of params: dtype, steps and guidance; of latent: width and height. Returns at once.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generate_get_needs(
    zenith_context *context, zenith_generator *generator, const zenith_generate_params *params,
    const zenith_latent *latent, zenith_generate_needs *out);

// Lets the text model read prompts ahead, at most 32, and keeps what it said to them: where there is no room for both
// networks, pictures of several prompts then need no weights packed again and again. Of params: dtype, max_memory,
// held_memory and cancel. A prompt that is refused is left out: its own call says why.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_generator_read(
    zenith_context *context, zenith_generator *generator, const zenith_generate_params *params,
    const char *const *prompts, size_t count);

// Frees the packed weights, such as before a picture is decoded: the next call packs them again. Those that a call of
// another context uses go when that is over and its plans are.
ZENITH_API void zenith_generator_trim(zenith_context *context, zenith_generator *generator);

// --- diffusion autoencoders ---------------------------------------------------------------------

// A diffusion autoencoder turns a picture into a semantic code, which can be moved, mixed, drawn and classified, and
// into noise that holds the rest. Its model is opened by zenith_model_open, from a folder with config.json and
// safetensors as tools/convert.py --diffae writes it.
//
//     zenith_code code = {.size = sizeof code, .width = 256, .height = 256, .code = numbers, .noise = floats};
//     if (zenith_diffae_encode(context, model, &image, &code, NULL) != ZENITH_OK) ...
//     zenith_diffae_edit(context, model, &code, 31, 0.3); // attribute 31 of the classifier: Smiling
//     zenith_diffae_decode(context, model, &code, &image, NULL);
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
    uint32_t
        factor; // pixels of a picture along each side of one of the noise: 1, or more for models of latents
} zenith_diffae_info;
// ZENITH_INVALID_ARGUMENT for a model of another kind.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_get_info(zenith_context *context,
                                                                  const zenith_model *model,
                                                                  zenith_diffae_info *out);
// What an attribute is called, by the list "attributes" of config.json; NULL: past the end, or it has no name.
ZENITH_API const char *zenith_diffae_attribute(const zenith_model *model, size_t index);

// A picture as its code and its noise. The arrays are the caller's, but for those that a file hands out.
typedef struct zenith_code {
    size_t size;
    uint32_t width, height; // of the picture
    float *code;            // [zenith_diffae_info.numbers]
    float *
        noise; // [channels][height / factor][width / factor]; NULL: it is not wanted, or there is none
    uint32_t steps;   // to the noise, for the file; 0: not known
    uint32_t numbers; // of `code`, 0: as many as the model's
    // SHA-256 of the weights that made it: calls with other weights refuse it. NULL: not known, and not looked at.
    const char *weights;
    size_t noise_numbers; // of `noise`; 0: as many as the model's for this size
} zenith_code;

// How far a call is, after each step.
typedef struct zenith_diffae_report {
    size_t size;
    uint32_t step, steps; // steps that are done, of how many
    double seconds;       // since the call began
    // The picture that the step leads to, for previews: F32, CHW; valid during the call. NULL on the way to noise and
    // for codes of the prior.
    const zenith_image *predicted;
} zenith_diffae_report;
// Not zero: stop, the call returns ZENITH_CANCELLED. Called from an executor thread: see zenith_generate_fn.
typedef int zenith_diffae_fn(void *cookie, const zenith_diffae_report *report);

// What a call used.
typedef struct zenith_diffae_facts {
    size_t size;
    zenith_dtype dtype;
    double seconds;
} zenith_diffae_facts;

typedef struct zenith_diffae_params {
    size_t size;
    // 0: 250 to the noise, 100 back, 200 of the prior, as the authors have it; 20 by known pictures. Of 1000 timesteps
    // not every number can be; a failure names the nearest that can.
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
    // Of zenith_diffae_encode, by a model whose encoder is sparse: the share of pixels that it sees, drawn by the seed;
    // 0: all. Below 1 there is no noise, which would hold the whole picture.
    float seen;
} zenith_diffae_params;

// A picture (any zenith_image) to its code and, unless `noise` is NULL, its noise, which takes most of the time.
// `code` and `noise` are written; after a failure they are undefined. params may be NULL, here and below. Rows of
// an image that has no data are moved on the calling thread.
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

// Moves the numbers of a code towards an attribute, or with a negative strength away from it, by `strength` of the
// usual length of codes; 0.3 shows. The noise stays. A model that draws codes by known pictures draws what tells of
// the attribute anew, by those of them that have it (or have it not): 0.3 and more is all of that, 0.15 half of the way.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_edit(zenith_context *context,
                                                              const zenith_model *model,
                                                              const zenith_code *code,
                                                              uint32_t attribute, double strength);

// Between two codes of one size, weight 0 (a) .. 1 (b): codes on the straight line, noise on the arc. Both have noise,
// or `out` has none.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_mix(zenith_context *context,
                                                             const zenith_model *model,
                                                             const zenith_code *a,
                                                             const zenith_code *b, double weight,
                                                             const zenith_code *out);

// Draws codes by the prior, or by the known pictures of a model with linear codes, all at once. Code i is that of
// seed + i, alone and among others, and so is its noise, if there is room for it.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_diffae_sample(zenith_context *context,
                                                                zenith_model *model,
                                                                const zenith_code *codes,
                                                                size_t count,
                                                                const zenith_diffae_params *params);

// How probable each attribute is: [count][attributes], 0 .. 1. Of params: dtype, max_memory and cancel.
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
// Saves the numbers of codes alone, as one array [count, numbers]: npy where the path ends with .npy, else the tensor
// "z" of a safetensors file.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_codes_save(zenith_context *context,
                                                             const char *path,
                                                             const zenith_model *model,
                                                             const zenith_code *codes,
                                                             size_t count);

// The codes of many pictures in one safetensors file, with names, mean and deviation (docs/DIFFAE.md): what the prior and
// the classifier are trained on. What was added lies in pieces in the folder PATH.parts until the end, so that a run that
// was stopped, killed even, can go on. One thread at a time; the model must outlive the set.
typedef struct zenith_code_set zenith_code_set;
typedef struct zenith_code_set_params {
    size_t size;
    uint32_t width, height; // of the pictures; 0: the model's
    bool
        resume; // take codes from the pieces, and from the file itself, for zenith_code_set_reuse; else pieces are removed
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
// The same with the code that an earlier run had of this name; *done false: it had none, and nothing is added.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_set_reuse(zenith_context *context,
                                                                 zenith_code_set *set,
                                                                 const char *name, bool *done);
// Writes the file and removes the pieces; or, where it is not whole, writes the last piece.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_code_set_finish(zenith_context *context,
                                                                  zenith_code_set *set, bool whole);

// What training leaves, as one model: the folder of an autoencoder, and those of a prior and of a classifier that were
// trained on its codes, in any order.
typedef struct zenith_diffae_join_params {
    size_t size;
    const char *const *sources;
    size_t count;
    const char *
        output; // a file that ends with .safetensors, which zenith_model_open takes; it has config.json inside
    zenith_number number; // of the weights: F32 (also 0), F16, BF16, F8_E4M3, F8_E5M2
    bool force;           // take what was trained on codes of other weights
} zenith_diffae_join_params;
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_diffae_join(zenith_context *context, const zenith_diffae_join_params *params);

// --- tokenizers ---------------------------------------------------------------------------------

typedef struct zenith_tokenizer_params {
    size_t size;
    // Files: .jsonl, where each line is an object with "caption" (a text) or "captions" (a list of them), or UTF-8 text,
    // where each line is a text.
    const char *const *sources;
    size_t count;
    const char *output; // a folder, which is made; it gets tokenizer.json
    uint32_t tokens;    // that there shall be, at most, with the 256 bytes and the special tokens
    // They get the last ids. NULL: those that zenith_generate's text models need: <|endoftext|>, <|im_start|> and
    // <|im_end|>.
    const char *const *special;
    size_t special_count;
    // false: the words that zenith_generate puts around a prompt are counted with each text, so that they become tokens.
    bool plain;
    zenith_cancel *cancel;
} zenith_tokenizer_params;

typedef struct zenith_tokenizer_info {
    size_t size;
    uint64_t texts, bytes; // that were read
    uint32_t tokens;  // of the tokenizer: fewer than wanted where no pair occurs twice any more
    uint64_t encoded; // tokens that the texts become
} zenith_tokenizer_info;

// Trains a byte-level BPE on texts: the most frequent pair of neighbours within words becomes a token, again and again;
// of equally frequent pairs the one with the smaller ids, left before right. The same texts in any order give the same
// bytes. out may be NULL.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_tokenizer_train(
    zenith_context *context, const zenith_tokenizer_params *params, zenith_tokenizer_info *out);

// --- storage ------------------------------------------------------------------------------------

// A place for datasets that is no folder of this machine: objects with paths, as S3 has them. The functions are the
// caller's, and the program `zenith` has them for s3://. They return ZENITH_NOT_FOUND for an object that is not
// there, and for any failure leave a sentence in `message`, which has room for 512 bytes. Two threads may call them at once;
// a stream is one thread's at a time.
typedef struct zenith_object {
    size_t size;
    const char *path; // whole, with the scheme; NULL in answers of `look`
    uint64_t bytes;
    char etag[136]; // another one when the bytes are others; "": not known
    double age;     // seconds since it was written, by the storage's clock; negative: not known
} zenith_object;
typedef zenith_status zenith_object_fn(void *cookie, const zenith_object *object);

typedef struct zenith_storage {
    size_t size;
    const char *
        scheme; // "s3://": paths that begin with it are the storage's, all others are the file system's
    void *cookie; // the first argument of what follows, unless that is a stream
    // All objects whose path begins with `folder` and a slash; `deep`: with those that have another slash behind it.
    zenith_status (*list)(void *cookie, const char *folder, bool deep, zenith_object_fn *each,
                          void *each_cookie, char *message);
    zenith_status (*look)(void *cookie, const char *path, zenith_object *out, char *message);
    // The bytes of an object, from its beginning. etag: of the object that is meant, so that one that has changed is a
    // failure; "": any.
    zenith_status (*read_open)(void *cookie, const char *path, const char *etag, void **stream,
                               char *message);
    // *got is less than `bytes` only at the end.
    zenith_status (*read)(void *stream, void *dst, size_t bytes, size_t *got, char *message);
    void (*read_close)(void *stream);
    // An object that is there only when all of it is: after write_close with `keep`, which replaces one that was there. Its
    // etag (136 bytes) is written then. The stream is gone afterwards, whatever is returned.
    zenith_status (*write_open)(void *cookie, const char *path, void **stream, char *message);
    zenith_status (*write)(void *stream, const void *data, size_t bytes, char *message);
    zenith_status (*write_close)(void *stream, bool keep, char *etag, char *message);
    // A small object at once. `replace` false: only where there is none, and *made says whether it was made.
    zenith_status (*put)(void *cookie, const char *path, const void *data, size_t bytes,
                         bool replace, bool *made, char *message);
    zenith_status (*remove)(void *cookie, const char *path,
                            char *message); // OK where it is not there
} zenith_storage;

// --- datasets of latents ------------------------------------------------------------------------

// How far a call is. Shares are of the time that stages took: waiting for files to be read, decoding and resizing,
// encoding, writing.
typedef struct zenith_dataset_report {
    size_t size;
    const char *shard;            // in work; valid during the call
    uint64_t shards, shards_done; // of the input; done by this call
    uint64_t pictures, bad;       // of this call
    uint64_t bytes, bytes_done; // of the input that is to be read, as far as it is known, and read
    double seconds;
    double read_share, decode_share, encode_share, write_share;
} zenith_dataset_report;
// Not zero: stop, the call returns ZENITH_CANCELLED. Called from the caller's thread or an executor thread, one call at a
// time, ten times a second at most.
typedef int zenith_dataset_fn(void *cookie, const zenith_dataset_report *report);

// The file that a latent is in a tar.
typedef enum zenith_container {
    ZENITH_CONTAINER_DEFAULT = 0, // npy; safetensors for BF16, which npy does not have
    ZENITH_CONTAINER_NPY = 1,
    ZENITH_CONTAINER_SAFETENSORS = 2
} zenith_container;

typedef struct zenith_dataset_params {
    size_t size;
    // A folder with tar archives (WebDataset), a folder with pictures, or one tar.
    const char *input;
    const char *output; // a folder, which is made
    const zenith_source_params
        *source; // how pictures are read; NULL: all defaults. max_memory is not looked at
    const zenith_run_params *run; // dtype, max_memory, bands, cancel; NULL: all defaults
    // As stored: F16 (the default), BF16, F32, or U8, which has a scale and an offset for each channel of each picture.
    zenith_number number;
    zenith_space space;
    zenith_latent_kind kind; // ZENITH_LATENT_MEAN, or ZENITH_LATENT_MOMENTS: [2C, h, w]
    uint32_t shard_pictures; // that a shard cut from a folder of pictures has; 0: 5000
    double lease_seconds;    // after which a shard whose worker does not stir is another's; 0: 60
    bool retry;              // do shards again that have bad samples
    zenith_dataset_fn *report;
    void *report_cookie;
    // Only every `partitions`-th shard, beginning with number `partition`, from 0: workers that were told their share need
    // no leases to find it. 0: all.
    uint32_t partition, partitions;
    zenith_container container;
    // What is chosen for each picture by `seed` and its key, and nothing else: a crop elsewhere than in the middle, and whether
    // left and right change places, which half of the pictures do.
    bool random_crop, mirror;
    uint64_t seed;
    // Sizes to choose from, instead of the size of `source`: width and height of each, multiples of the model's factor. No
    // picture is enlarged; docs/DATASET.md says how the bucket of a picture is chosen.
    const uint32_t *buckets;
    uint32_t bucket_count;
    // Further models, up to 7: each picture is decoded and scaled once, and every model encodes it. Latents are then
    // KEY.MODEL.npy. All must be different ones; sides are multiples of all their factors.
    zenith_model *const *more_models;
    uint32_t more_count;
    const zenith_storage *storage; // of inputs and outputs that have its scheme; NULL: folders only
} zenith_dataset_params;

// What a call did.
typedef struct zenith_dataset_info {
    size_t size;
    uint64_t shards;            // of the input, or of the partition
    uint64_t done, done_before; // by this call, and by others
    uint64_t held;              // that others are at work on
    uint64_t failed;            // that could not be read: the sentence says why the first could not
    uint64_t damaged;           // of `done`: archives that are broken from some place on
    uint64_t pictures,
        bad;        // samples of `done`: latents that were made, and samples that could not be used
    uint64_t bytes; // of the tars that were written
    double seconds;
    double read_share, decode_share, encode_share, write_share;
} zenith_dataset_info;

// Turns pictures into latents, shard by shard. OUT/NAME.tar has KEY.npy ([C, h, w]) for each picture, its facts
// (KEY.latent.json), and the other members of its sample unchanged; OUT/NAME.json says what became of every sample, and is written last. The same call again goes on
// where one was stopped or killed, and does nothing where all is done; several processes, of several machines, may make it
// at once. Settings that would give other bytes than those that are there are refused (ZENITH_INVALID_ARGUMENT).
// A context with several streams of one thread each is fastest. Latents have the bits of zenith_encode. `out`, which may
// be NULL, is written for any status. ZENITH_PARTIAL: some shards could not be read. docs/DATASET.md has more.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_dataset_encode(zenith_context *context, zenith_model *model,
                      const zenith_dataset_params *params, zenith_dataset_info *out);

typedef struct zenith_dataset_look_params {
    size_t size;
    const char *input, *output; // output NULL: there is none yet, and all shards are missing
    uint32_t shard_pictures;    // as when it was made; 0: as the output says
    double lease_seconds;       // likewise
    bool verify;                // read all outputs, and compare them with their records
    zenith_cancel *cancel;
    const zenith_storage *storage; // as when it was made
} zenith_dataset_look_params;

// What is done of a dataset, as JSON text: shards by state, samples by reason, and a list of faults: missing (a shard has
// no record), record (one that cannot be read), stale (the input has changed since), settings and weights (made with others
// than the folder's), output (the tar is gone, or its bytes are not those of the record), extra (a record without an
// input). Free it with zenith_text_free.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_dataset_look(zenith_context *context, const zenith_dataset_look_params *params, char **out);

// --- jobs ---------------------------------------------------------------------------------------

// Work that a context does while its caller does something else: pictures to latents, latents to pictures, or both, of
// any opened models and sizes. Jobs wait in one queue for the context's streams, those of the largest priority first,
// then in the order in which they came. Plain calls wait in the same queue with priority 0. A job has the bits of the
// plain call.
//
//     zenith_job_params what = {.size = sizeof what, .kind = ZENITH_JOB_DECODE, .model = model,
//                               .latent = &latent, .image = &image};
//     if (zenith_job_submit(context, &what, &job) != ZENITH_OK) ...
//     if (zenith_job_wait(job) != ZENITH_OK) ...
//     zenith_job_free(job);
//
// Submitting does not wait for calls or jobs. Any thread may submit, and ask, wait for and cancel any job. Where a
// context is freed, the jobs that wait end with ZENITH_CANCELLED, and those that run come to their end; the job itself
// is there until zenith_job_free.
typedef struct zenith_job zenith_job;

typedef enum zenith_job_kind {
    ZENITH_JOB_ENCODE = 1,     // image -> latent
    ZENITH_JOB_DECODE = 2,     // latent -> image
    ZENITH_JOB_RECONSTRUCT = 3 // image -> latent -> result
} zenith_job_kind;

// Called once, when the job is over and before zenith_job_wait returns: from an executor thread, or where it had not
// begun, from the thread that cancels it or frees the context. message: the sentence of a failure, or "". The job must
// not be freed here.
typedef void zenith_job_fn(void *cookie, zenith_status status, const char *message);

typedef struct zenith_job_params {
    size_t size;
    zenith_job_kind kind;
    zenith_model *model; // may be freed while the job is there
    // The structs are copied; their data, rows and cookies must live until the job is over.
    const zenith_image *image;
    const zenith_latent *latent; // ZENITH_JOB_RECONSTRUCT: NULL, or where the latent is kept
    const zenith_image *result;  // of ZENITH_JOB_RECONSTRUCT
    // May be NULL; copied. `facts` must live until the job is over, those of a reconstruction are the decoder's.
    // `cancel` and `results` must be NULL: zenith_job_cancel and zenith_job_get_info are there for that.
    const zenith_run_params *run;
    int priority;
    zenith_job_fn *done; // may be NULL
    void *done_cookie;
} zenith_job_params;

// Checks pointers, sizes and types at once.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_job_submit(zenith_context *context,
                                                             const zenith_job_params *params,
                                                             zenith_job **out);
// Waits until the job is over; its status. In a forked child ZENITH_FORKED.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_job_wait(zenith_job *job);
// A job that waits is over at once, one that runs within tens of milliseconds, one that is over stays as it is.
ZENITH_API void zenith_job_cancel(zenith_job *job);
// Cancels the job if it is not over, and waits for its end. NULL is fine.
ZENITH_API void zenith_job_free(zenith_job *job);

typedef enum zenith_job_state {
    ZENITH_JOB_WAITING = 0,
    ZENITH_JOB_RUNNING = 1,
    ZENITH_JOB_OVER = 2
} zenith_job_state;

typedef struct zenith_job_info {
    size_t size;
    zenith_job_state state;
    zenith_status status; // of a job that is over
    const char *message;  // the sentence of a failure, or ""; lives as long as the job
    uint32_t before;      // jobs and calls that will begin before this one
    double waited, ran;   // seconds so far
} zenith_job_info;
ZENITH_API void zenith_job_get_info(zenith_job *job, zenith_job_info *out);

// --- files in memory ----------------------------------------------------------------------------

// What the calls that write files write, kept in memory instead: for servers, and for programs with files of their own.
typedef struct zenith_bytes zenith_bytes;
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_bytes_create(zenith_bytes **out);
ZENITH_API void zenith_bytes_free(zenith_bytes *bytes);
// Valid until something is written to them again.
ZENITH_API const void *zenith_bytes_get(const zenith_bytes *bytes, size_t *size);

// As the calls of zenith.h with a path. What was in `to` is gone. Where a picture or a latent is not finished, what is
// there is of no use. `to` must outlive the target. format: by name, since there is no path that ends with it; NULL:
// png, or safetensors.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_target_open_bytes(zenith_context *context, zenith_bytes *to, uint32_t width, uint32_t height,
                         const zenith_target_params *params, zenith_target **out);
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_latent_save_bytes(zenith_context *context, zenith_bytes *to, const zenith_latent *latents,
                         size_t count, const zenith_latent_save_params *params);
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_image_save_npy_bytes(zenith_context *context,
                                                                       zenith_bytes *to,
                                                                       const zenith_image *image);
// As zenith_latent_file_open, from memory, which stays the caller's and must live as long.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_latent_file_open_memory(zenith_context *context,
                                                                          const void *data,
                                                                          size_t size,
                                                                          zenith_latent_file **out);

#ifdef __cplusplus
}
#endif
#endif
