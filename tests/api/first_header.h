// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// include/zenith/zenith.h as it was in 0.1.0 when its structs began to grow: what programs that are
// already compiled were built with. Never changed. Its guard is that of today's header, so what is
// included after it sees these structs.
#ifndef ZENITH_ZENITH_H
#define ZENITH_ZENITH_H

#include "zenith/status.h"
#include "zenith/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

ZENITH_API const char *zenith_version(void); // of the library in use, "0.1.0"

// --- context ------------------------------------------------------------------------------------

typedef struct zenith_context zenith_context;
typedef struct zenith_model zenith_model;

typedef enum zenith_log_level {
    ZENITH_LOG_DEBUG = 0,
    ZENITH_LOG_INFO = 1,
    ZENITH_LOG_WARNING = 2
} zenith_log_level;

typedef void zenith_log_fn(void *cookie, int level, const char *message);

typedef struct zenith_context_params {
    size_t size;
    int threads; // 0: physical cores that this process may use, bounded by its cgroup quota
    int streams; // how many pictures of a batch are computed at once, each on `threads`; 0: 1
    // NULL: silent. Called from executor threads too, one call at a time.
    zenith_log_fn *log;
    void *log_cookie;
    int log_level; // messages below it are not made
} zenith_context_params;

ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_context_create(const zenith_context_params *params, zenith_context **out);
ZENITH_API void zenith_context_free(zenith_context *context);

// The sentence of the last call on this context if it failed, else "". Valid until the next call.
ZENITH_API const char *zenith_context_error(const zenith_context *context);

// What the context runs on: "amx", 2 threads, oneDNN 3.2.0, ...
typedef struct zenith_machine_info {
    size_t size;
    const char *isa;      // class of instructions in use: "baseline", "avx2", "avx512", "amx"
    const char *hardware; // the best the machine has; differs when ZENITH_CPU lowers it
    const char *onednn;   // version, or "none"
    int threads, streams;
    // What decided the default number of threads. quota: of the cgroup, in whole CPUs; 0: none.
    int affinity, physical_cores, quota;
} zenith_machine_info;
ZENITH_API void zenith_context_get_machine(const zenith_context *context, zenith_machine_info *out);

// Frees working memory and compiled plans, which are otherwise kept for the next call.
ZENITH_API void zenith_context_trim(zenith_context *context);

// --- cancel -------------------------------------------------------------------------------------

// A flag that stops the calls it was given to: they return ZENITH_CANCELLED within tens of
// milliseconds. Any thread may request; it stays requested until reset.
typedef struct zenith_cancel zenith_cancel;
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_cancel_create(zenith_cancel **out);
ZENITH_API void zenith_cancel_free(zenith_cancel *cancel);
ZENITH_API void zenith_cancel_request(zenith_cancel *cancel);
ZENITH_API void zenith_cancel_reset(zenith_cancel *cancel);

// --- models -------------------------------------------------------------------------------------

enum { ZENITH_ENCODER = 1, ZENITH_DECODER = 2 };

typedef struct zenith_model_params {
    size_t size;
    // "taesd", "taesdxl", "taesd3", "taef1", "taef2" (zenith_model_name lists them). NULL: told
    // from the file, or ZENITH_AMBIGUOUS where names and shapes fit several (TAESD and TAESDXL are
    // alike in both).
    const char *name;
    // Where the weights are: a folder with NAME_encoder.safetensors and NAME_decoder.safetensors, a
    // folder in diffusers' layout (config.json), or one safetensors file. NULL: the search path,
    // which is $ZENITH_MODELS, then `models` in the current folder, then ~/.local/share/zenith,
    // then the install prefix's share/zenith/models. Each holds a model either as its files
    // NAME_encoder.safetensors and NAME_decoder.safetensors or as a folder NAME.
    const char *weights;
    unsigned parts; // ZENITH_ENCODER | ZENITH_DECODER: what must be there; 0: whatever is
} zenith_model_params;

// Maps the weights; they are packed for the CPU when first used.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_model_open(zenith_context *context,
                                                             const zenith_model_params *params,
                                                             zenith_model **out);
ZENITH_API void zenith_model_free(zenith_model *model);

typedef struct zenith_model_info {
    size_t size;
    const char *name;        // "taesd"
    const char *description; // "TAESD: tiny autoencoder for Stable Diffusion 1.x and 2.x"
    unsigned parts;          // what was found: ZENITH_ENCODER | ZENITH_DECODER
    uint32_t latent_channels;
    uint32_t factor; // picture pixels per latent pixel, along each side: 8
    // From the full VAE's own latents (space RAW) to the diffusion model's (MODEL):
    // model = (raw - shift) * scale. has_raw is false where that is not one scale and one shift.
    bool has_raw;
    float scale, shift;
    uint64_t parameters;
    const char *weights_sha256; // over names, types, shapes and bytes, whatever the files
    bool has_int8;              // a calibration for these weights was found
    bool can_int8;              // a calibration can be made for this model
    const char *weights_path;   // of a file of the weights; a model can have several
} zenith_model_info;
ZENITH_API void zenith_model_get_info(const zenith_model *model, zenith_model_info *out);

// Names of the models this library knows: index 0, 1, ... until NULL.
ZENITH_API const char *zenith_model_name(size_t index);
ZENITH_API const char *zenith_model_description(size_t index);
// Whether one model can decode what the other encodes (taesd and zenith-sd-fast), by their names.
ZENITH_API bool zenith_models_share_latents(const char *a, const char *b);

// --- pictures and latents ------------------------------------------------------------------------

typedef enum zenith_number {
    ZENITH_NUMBER_DEFAULT = 0, // U8 for pictures, F32 for latents
    ZENITH_U8 = 1,             // pictures: sRGB, 0 .. 255
    ZENITH_F32 = 2,            // pictures: 0 .. 1, and what the network gives beyond that
    ZENITH_F16 = 3,            // latents
    ZENITH_BF16 = 4            // latents
} zenith_number;

typedef enum zenith_order {
    ZENITH_ORDER_DEFAULT = 0, // HWC for pictures, CHW for latents
    ZENITH_HWC = 1,
    ZENITH_CHW = 2
} zenith_order;

// Moves rows [y, y + count): into `rows` when it is a source, out of it when it is a target. Rows
// are dense, HWC, of the number type of the picture or latent. Rows come in increasing order; a
// source may be read from row 0 again. Called from an executor thread, one call at a time. Any
// status but ZENITH_OK ends the run with it.
typedef zenith_status zenith_rows_fn(void *cookie, uint32_t y, uint32_t count, void *rows);

// A picture with three channels, in memory (data) or as a stream of rows.
typedef struct zenith_image {
    size_t size;
    uint32_t width, height; // multiples of the model's factor
    zenith_number number;   // U8 or F32
    zenith_order order;     // of data
    void *data;             // dense; NULL: use rows
    zenith_rows_fn *rows;
    void *cookie;
} zenith_image;

typedef enum zenith_space {
    ZENITH_SPACE_MODEL = 0, // as the diffusion model sees it
    ZENITH_SPACE_RAW = 1    // as the full VAE gives it, before scale and shift
} zenith_space;

// One latent. width and height are those of the picture divided by the model's factor.
typedef struct zenith_latent {
    size_t size;
    uint32_t width, height, channels;
    zenith_space space;
    zenith_number number; // F32, F16 or BF16
    zenith_order order;   // of data
    void *data;           // dense; NULL: use rows (F32)
    zenith_rows_fn *rows;
    void *cookie;
} zenith_latent;

// --- runs ---------------------------------------------------------------------------------------

typedef enum zenith_dtype {
    ZENITH_DTYPE_DEFAULT = 0, // bf16 where the CPU has AMX, f32 elsewhere
    ZENITH_DTYPE_F32 = 1,
    ZENITH_DTYPE_BF16 = 2, // maps in bf16, sums in f32; values that need more are kept in f32
    // u8 * s8 after calibration; layers that would lose too much stay in the default floating type
    ZENITH_DTYPE_INT8 = 3
} zenith_dtype;

typedef enum zenith_bands {
    ZENITH_BANDS_AUTO = 0, // rows rolling through the whole network, as large as max_memory allows
    ZENITH_BANDS_OFF = 1,  // whole maps
    ZENITH_BANDS_ROWS = 2  // rolling, band_rows rows of the latent at a time
} zenith_bands;

// fraction: 0 .. 1 of the whole call. Not zero: stop, the call returns ZENITH_CANCELLED. Called
// from an executor thread, one call at a time.
typedef int zenith_progress_fn(void *cookie, double fraction);

// What a run used.
typedef struct zenith_run_facts {
    size_t size;
    zenith_dtype dtype;
    bool banded;
    uint32_t band_rows;   // rows of the latent per round; 0 if not banded
    uint64_t arena_bytes; // working memory, to the byte
    uint64_t weights_bytes;
    double seconds;
} zenith_run_facts;

typedef struct zenith_run_params {
    size_t size;
    zenith_dtype dtype;
    zenith_bands bands;
    uint32_t band_rows;
    // Bounds working memory, packed weights and the buffers of pictures and latents (`data`). A
    // call that cannot fit fails with ZENITH_LIMIT before it computes. 0: no bound.
    uint64_t max_memory;
    zenith_progress_fn *progress;
    void *progress_cookie;
    zenith_cancel *cancel;
    zenith_run_facts *facts; // filled on success, if not NULL
} zenith_run_params;

// Pictures to latents, `count` of each, any sizes. params may be NULL.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_encode(zenith_context *context,
                                                         zenith_model *model,
                                                         const zenith_image *images,
                                                         const zenith_latent *latents, size_t count,
                                                         const zenith_run_params *params);

// Latents to pictures, likewise. 8-bit pictures are rounded and clamped; f32 ones are the network's
// own output.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_decode(zenith_context *context,
                                                         zenith_model *model,
                                                         const zenith_latent *latents,
                                                         const zenith_image *images, size_t count,
                                                         const zenith_run_params *params);

// What encoding or decoding one picture of this size will need: the same numbers the run then uses.
typedef struct zenith_estimate_info {
    size_t size;
    zenith_dtype dtype;
    bool banded;
    uint32_t band_rows;
    uint64_t arena_bytes, weights_bytes, buffer_bytes; // buffers: 8-bit picture, f32 latent
    uint64_t total_bytes;
    double flops;
} zenith_estimate_info;

// part: ZENITH_ENCODER or ZENITH_DECODER. width, height: of the picture. streamed: picture and
// latent will come and go by rows, so that they take no buffers.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_estimate(
    zenith_context *context, zenith_model *model, unsigned part, uint32_t width, uint32_t height,
    bool streamed, const zenith_run_params *params, zenith_estimate_info *out);

// Finds how the model's values are spread on `images` (training pictures in memory, at least 8;
// crops of about 256 x 256 do) and which layers bear 8 bits, and writes that to `path`. Models
// opened from then on find it as NAME.calib.json in the folder of their weights or on the search
// path (zenith_model_params.weights).
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_calibrate(zenith_context *context,
                                                            zenith_model *model,
                                                            const zenith_image *images,
                                                            size_t count, const char *path,
                                                            const zenith_run_params *params);

// --- quality ------------------------------------------------------------------------------------

// The judge of picture quality: what a picture has lost against its original, by measures of which
// no single one is to be trusted. docs/EVALUATION.md defines them and says what fools each.
typedef struct zenith_judge zenith_judge;

typedef struct zenith_judge_params {
    size_t size;
    // SqueezeNet 1.0 as a safetensors file. NULL: squeezenet1_0_dc.safetensors beside `weights` or
    // on the search path of models; where it is not there, that measure is left out.
    const char *squeezenet;
    const char *weights; // where a model's weights are, as in zenith_model_params; may be NULL
} zenith_judge_params;

// params may be NULL.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_judge_open(zenith_context *context,
                                                             const zenith_judge_params *params,
                                                             zenith_judge **out);
ZENITH_API void zenith_judge_free(zenith_judge *judge);
// The path of the SqueezeNet in use; NULL: there is none.
ZENITH_API const char *zenith_judge_get_squeezenet(const zenith_judge *judge);

// NaN: not measured, because the picture is too small or what it takes is not there.
typedef struct zenith_quality {
    size_t size;
    double psnr;           // dB over all 8-bit samples; infinity for equal pictures
    double ssim, ms_ssim;  // of luma; 1 for equal pictures
    double squeezenet;     // distance of SqueezeNet's features; 0 for equal pictures
    double gmsd;           // of gradients; 0 for equal pictures
    double hf;             // finest detail: its rms over the original's
    double hf_correlation; // and how much of it is in the right place
    double mesh4;          // power at periods of 4 pixels over what is around them
    double original_mesh4; // the same of the original
    // Of an evaluation only: what the encoder gives for the picture and for the original, as
    // |difference| / |original's|, and the seconds that encoding and decoding took.
    double latent_distance, encode_seconds, decode_seconds;
} zenith_quality;

// Compares two pictures of one size, in memory (8-bit, HWC).
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_compare(zenith_context *context,
                                                          zenith_judge *judge,
                                                          const zenith_image *original,
                                                          const zenith_image *picture,
                                                          zenith_quality *out);

// Encodes `original` with one model, decodes the latent with another (or the same), and compares
// what comes out, which `picture` receives: both in memory (8-bit, HWC), of one size. The models
// must have the same number of latent channels. params may be NULL; its max_memory bounds encoder
// and decoder, its facts are not filled.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_evaluate(zenith_context *context, zenith_judge *judge, zenith_model *encoder,
                zenith_model *decoder, const zenith_image *original, const zenith_image *picture,
                const zenith_run_params *params, zenith_quality *out);

// --- training -----------------------------------------------------------------------------------

// How a training run goes, after each step.
typedef struct zenith_train_report {
    size_t size;
    uint64_t step, steps;
    double loss;
    double psnr; // dB, mean over the step's pictures, of values that are not rounded
    double images_per_second, seconds_left;
} zenith_train_report;
// Not zero: stop, as by zenith_train_params.cancel.
typedef int zenith_train_fn(void *cookie, const zenith_train_report *report);

typedef struct zenith_train_params {
    size_t size;
    const char *config; // path of the run's JSON file; docs/TRAINING.md
    bool resume;        // go on from the newest checkpoint in the config's output folder, if any
    uint64_t stop_at;   // a step to stop at, with a checkpoint; 0: the config's last
    zenith_train_fn *report;
    void *report_cookie;
    // Finishes the step and writes a checkpoint; the call then returns ZENITH_CANCELLED.
    zenith_cancel *cancel;
} zenith_train_params;

// Trains a model as the config says. The context's threads x streams is the number of pictures
// computed at once where the config does not say. A run that was stopped or killed and resumed ends
// in the same bits as one that was not.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_train(zenith_context *context,
                                                        const zenith_train_params *params);

// --- pruning ------------------------------------------------------------------------------------

typedef struct zenith_prune_params {
    size_t size;
    const char *output; // a folder, made if it is not there
    unsigned parts;  // to prune: ZENITH_ENCODER | ZENITH_DECODER; 0: what the config trains, or all
    double channels; // share of the channels inside blocks that stays, below 1; 0: all do
    uint32_t blocks; // that are left out; needs a config
    uint32_t multiple; // of channels that a layer keeps; 0: 32, which the AMX kernels want
    // Path of a training config (docs/TRAINING.md): its pictures and losses then say what matters
    // least. NULL: the size of the weights does.
    const char *config;
    uint32_t batches;      // of the config's pictures that channels are judged by; 0: 16
    zenith_cancel *cancel; // seen between two measurements
    uint32_t frequencies;  // along each side of a tile, that stay: 1, 2 or 4; 0: as before
    // Of models with scores: cells of a block's map over which no channel changes by this are left
    // out while it runs, picture by picture; 0.001 to 0.999; 0: as before.
    double still;
} zenith_prune_params;

// Of the parts that were pruned, before and after. Operations are those for 512x512 pixels.
typedef struct zenith_prune_info {
    size_t size;
    unsigned parts;
    uint64_t parameters_before, parameters;
    uint64_t channels_before, channels; // inside blocks
    uint32_t blocks_before, blocks;
    double operations_before, operations;
    uint32_t frequencies_before, frequencies; // along each side of a tile; 0: there are no tiles
} zenith_prune_info;

// Writes a smaller model, as NAME_encoder.safetensors and NAME_decoder.safetensors in f32: without
// the channels inside its residual blocks, or the blocks, that matter least, or with the lowest
// frequencies of its tiles alone. Its weights open like any others and can be trained further
// (init.weights). Parts that are not pruned are written as they are. out may be NULL.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_prune(zenith_context *context,
                                                        const zenith_model *model,
                                                        const zenith_prune_params *params,
                                                        zenith_prune_info *out);

// --- picture files ------------------------------------------------------------------------------

// A picture file, read in a fixed order: header against limits, decode, EXIF orientation, ICC
// profile to sRGB, alpha over the background, fit, 8-bit RGB rows. JPEG, PNG, WebP, PNM.
typedef struct zenith_source zenith_source;

typedef enum zenith_fit {
    ZENITH_FIT_CROP = 0,   // the middle, down to a multiple of `multiple`
    ZENITH_FIT_PAD = 1,    // edge pixels repeated at right and bottom, up to a multiple
    ZENITH_FIT_RESIZE = 2, // scaled and cropped to width x height
    ZENITH_FIT_EXACT = 3   // refused unless it is a multiple already
} zenith_fit;

typedef enum zenith_filter { ZENITH_LANCZOS = 0, ZENITH_BICUBIC = 1 } zenith_filter;

typedef struct zenith_source_params {
    size_t size;
    zenith_fit fit;
    uint32_t multiple;      // 0: 8
    uint32_t width, height; // of ZENITH_FIT_RESIZE; one of them 0: the shape is kept
    zenith_filter filter;
    uint8_t background[3]; // RGB under transparent pixels; zero is black, not a default
    bool first_frame;      // of an animation, which is refused otherwise
    uint64_t max_pixels;   // 0: 2^29
    uint64_t max_memory;   // for what must be held at once; 0: no bound
} zenith_source_params;

typedef struct zenith_source_info {
    size_t size;
    const char *format;                               // "jpeg", "png", "webp", "pnm"
    uint32_t width, height;                           // after fit: what rows are made of
    uint32_t stored_width, stored_height;             // in the file
    uint32_t turned_width, turned_height;             // after orientation
    uint32_t crop_x, crop_y, crop_width, crop_height; // the part used, in turned pixels
    int orientation;                                  // EXIF, 1 .. 8
    int bits, channels;                               // as stored
    bool has_alpha, has_profile;
    const char *colour; // "sRGB", or the profile's own description
    bool streamed;      // false: the whole picture is held in memory
} zenith_source_info;

// path "-": standard input, read whole: it counts against max_memory, or may have 2 GiB.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_source_open(zenith_context *context,
                                                              const char *path,
                                                              const zenith_source_params *params,
                                                              zenith_source **out);
// The same from memory, which stays the caller's and must live as long.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_source_open_memory(zenith_context *context, const void *data, size_t size,
                          const zenith_source_params *params, zenith_source **out);
ZENITH_API void zenith_source_free(zenith_source *source);
ZENITH_API void zenith_source_get_info(const zenith_source *source, zenith_source_info *out);
ZENITH_API const char *zenith_source_error(const zenith_source *source);
// A zenith_rows_fn whose cookie is the source.
ZENITH_API zenith_status zenith_source_rows(void *source, uint32_t y, uint32_t count, void *rows);

// Writes a picture file row by row; it appears under its name only when finished.
typedef struct zenith_target zenith_target;
typedef struct zenith_target_params {
    size_t size;
    const char *format; // "png", "jpeg", "webp", "ppm"; NULL: by the path's ending
    int quality;        // jpeg, webp: 1 .. 100; 0: 95
    int level;          // png: 1 (fast) .. 9; 0: 1
    bool lossless;      // webp
} zenith_target_params;
// path "-": standard output.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_target_open(zenith_context *context,
                                                              const char *path, uint32_t width,
                                                              uint32_t height,
                                                              const zenith_target_params *params,
                                                              zenith_target **out);
// A zenith_rows_fn whose cookie is the target: 8-bit HWC rows, in order.
ZENITH_API zenith_status zenith_target_rows(void *target, uint32_t y, uint32_t count, void *rows);
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_target_finish(zenith_target *target);
ZENITH_API const char *zenith_target_error(const zenith_target *target);
ZENITH_API void zenith_target_free(zenith_target *target); // unfinished: nothing is left behind

// --- latent files -------------------------------------------------------------------------------

// A latent file: safetensors (ours, or any with one tensor), ComfyUI's .latent, npy; [N, C, h, w]
// or [C, h, w].
typedef struct zenith_latent_file zenith_latent_file;

typedef struct zenith_latent_info {
    size_t size;
    uint32_t count, channels, width, height;
    const char *model; // "" if the file does not say
    bool has_space;    // the file says in which space it is
    zenith_space space;
    // Of the picture it was made from, upright, and the part of it that was used; 0: not known.
    uint32_t source_width, source_height;
    uint32_t crop_x, crop_y, crop_width, crop_height;
} zenith_latent_info;

// path "-": standard input, read whole (at most 2 GiB).
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_latent_file_open(zenith_context *context,
                                                                   const char *path,
                                                                   zenith_latent_file **out);
ZENITH_API void zenith_latent_file_free(zenith_latent_file *file);
ZENITH_API void zenith_latent_file_get_info(const zenith_latent_file *file,
                                            zenith_latent_info *out);
// Fills *out so that it streams latent `index` of the file, which must outlive it.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_latent_file_get(zenith_latent_file *file,
                                                                  uint32_t index,
                                                                  zenith_latent *out);

typedef struct zenith_latent_save_params {
    size_t size;
    // "safetensors", "latent" (ComfyUI) or "npy". NULL: by the path's ending, .latent or .npy, and
    // safetensors for any other.
    const char *format;
    zenith_number number; // as stored: F32 (the default), F16 or BF16; npy takes F32 only
    const char *model;    // written into the file, with its space, scale and shift; not into npy
    const zenith_source_info *source; // and the picture's facts; may be NULL
} zenith_latent_save_params;

// Saves `count` latents of one size and space as [count, C, h, w]; they must have data (CHW, F32).
// ComfyUI's format holds ZENITH_SPACE_RAW only. path "-": standard output.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_latent_save(zenith_context *context, const char *path, const zenith_latent *latents,
                   size_t count, const zenith_latent_save_params *params);

// Saves a float picture (F32, HWC data) as npy [1, 3, h, w]. path "-": standard output.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_image_save_npy(zenith_context *context,
                                                                 const char *path,
                                                                 const zenith_image *image);

// --- weights files ------------------------------------------------------------------------------

// Writes the weights as safetensors under the flat names of the published files ("0.weight"),
// whatever names and layout they were read with. path: a folder that exists, which gets
// NAME_encoder.safetensors and NAME_decoder.safetensors (of the parts that are there); or one file,
// where the names begin with "encoder." or "decoder.". number: F32, F16 or BF16; the default is
// F32, which holds the others without loss. ZENITH_UNSUPPORTED if a value is beyond what F16 holds;
// that file is then not written.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_model_save(zenith_context *context,
                                                             const zenith_model *model,
                                                             const char *path,
                                                             zenith_number number);

// --- looking into files -------------------------------------------------------------------------

// Describes a file or folder as JSON text: weights (family, variants that fit, tensors, missing and
// unexpected names), a folder with several models (which), latents, pictures. graph: for weights of
// a known model, also its operators. Free the text with zenith_text_free.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_inspect(zenith_context *context, const char *path,
                                                          const char *model, bool graph,
                                                          char **out);
ZENITH_API void zenith_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
