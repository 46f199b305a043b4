// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Making models: training, pruning, calibration for int8, and metrics of image quality.
// Experimental: this header may change with any version. The rules of zenith.h apply.
#ifndef ZENITH_TRAIN_H
#define ZENITH_TRAIN_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- training ------------------------------------------------------------------------------------

// Progress of a training run, reported after each step.
typedef struct zenith_train_report {
    size_t size;
    uint64_t step, steps;
    double loss;
    double psnr; // dB, mean over the step's images, unrounded; NaN: the task makes no images
    double images_per_second, seconds_left;
} zenith_train_report;
// Return nonzero to stop, as with zenith_train_params.cancel. Called from the thread that called
// zenith_train. If several processes train together, only the first one reports.
typedef int zenith_train_fn(void *cookie, const zenith_train_report *report);
// Called once for each image that cannot be used; the run continues without it. May be called from
// any thread, one call at a time.
typedef void zenith_skip_fn(void *cookie, const char *name, const char *reason);

typedef struct zenith_train_params {
    size_t size;
    const char *config; // path of the run's JSON file: see docs/TRAINING.md
    bool resume;        // continue from the newest checkpoint in the config's output folder, if any
    uint64_t stop_at;   // stop after this step, with a checkpoint; 0: the config's last step
    zenith_train_fn *report;
    void *report_cookie;
    // When requested, the run finishes its step and writes a checkpoint, and the call returns
    // ZENITH_CANCELLED.
    zenith_cancel *cancel;
    zenith_skip_fn *skip; // may be NULL; gets report_cookie
} zenith_train_params;

// Trains a model as the config describes. If the config does not set it, the number of images
// computed at once is threads x streams of the context. A run that was stopped or killed and then
// resumed gives the same bits as one that was not.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_train(zenith_context *context,
                                                        const zenith_train_params *params);

// --- pruning -------------------------------------------------------------------------------------

typedef struct zenith_prune_params {
    size_t size;
    const char *output; // a folder, created if it does not exist
    // The parts to prune: ZENITH_ENCODER | ZENITH_DECODER; 0: those that the config trains, or all.
    unsigned parts;
    double channels;   // share of the channels inside blocks to keep, below 1; 0: all
    uint32_t blocks;   // number of blocks to remove; needs a config
    uint32_t multiple; // channels are removed in groups of this many; 0: 32, for the AMX kernels
    // Path of a training config (docs/TRAINING.md): its images and losses decide what matters
    // least. NULL: the magnitude of the weights decides.
    const char *config;
    uint32_t batches;      // of the config's images, to score channels with; 0: 16
    zenith_cancel *cancel; // checked between measurements
    uint32_t frequencies;  // to keep along each side of a tile: 1, 2 or 4; 0: no change
    // For models with scores: at run time, a block skips the cells of its feature map in which no
    // channel varies by this much. 0.001 to 0.999; 0: no change.
    double still;
} zenith_prune_params;

// The pruned parts before and after. Operations are for an image of 512 x 512 pixels.
typedef struct zenith_prune_info {
    size_t size;
    unsigned parts;
    uint64_t parameters_before, parameters;
    uint64_t channels_before, channels; // inside blocks
    uint32_t blocks_before, blocks;
    double operations_before, operations;
    uint32_t frequencies_before, frequencies; // along each side of a tile; 0: it has no tiles
} zenith_prune_info;

// Writes a smaller model, as NAME_encoder.safetensors and NAME_decoder.safetensors in f32. It lacks
// the blocks, or the channels inside residual blocks, that matter least, or keeps only the lowest
// frequencies of its tiles. The result opens like any other model and can be trained further
// (init.weights in the config). Parts that are not pruned are written unchanged. Set at least one
// of channels, blocks, frequencies and still. out may be NULL.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_prune(zenith_context *context,
                                                        const zenith_model *model,
                                                        const zenith_prune_params *params,
                                                        zenith_prune_info *out);

// --- calibration ---------------------------------------------------------------------------------

// Measures the range of the model's values on `images`, decides which layers can run in int8, and
// writes the result to `path`. Needs an encoder and a decoder, and at least 8 training images in
// memory, with sides that are multiples of the model's factor; crops of about 256 x 256 pixels are
// enough. A model that is opened later uses the file if it is named NAME.calib.json and is in the
// folder of its weights or on the search path (zenith_model_params.weights).
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_calibrate(zenith_context *context,
                                                            zenith_model *model,
                                                            const zenith_image *images,
                                                            size_t count, const char *path,
                                                            const zenith_run_params *params);

// --- quality -------------------------------------------------------------------------------------

// Measures how much an image has lost compared with its original, by several metrics. Do not trust
// any one of them alone: docs/EVALUATION.md defines them and says what fools each. Any number of
// contexts may share a judge.
typedef struct zenith_judge zenith_judge;

typedef struct zenith_judge_params {
    size_t size;
    // SqueezeNet 1.0 as a safetensors file. NULL: squeezenet1_0_dc.safetensors next to `weights` or
    // on the search path of models. If there is none, that metric is left out.
    const char *squeezenet;
    const char *weights; // of a model, as in zenith_model_params; may be NULL
} zenith_judge_params;

// params may be NULL.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_judge_open(zenith_context *context,
                                                             const zenith_judge_params *params,
                                                             zenith_judge **out);
ZENITH_API void zenith_judge_free(zenith_judge *judge);
// The path of the SqueezeNet in use. NULL: there is none.
ZENITH_API const char *zenith_judge_get_squeezenet(const zenith_judge *judge);

// NaN: not measured, because the image is too small or SqueezeNet is missing.
typedef struct zenith_quality {
    size_t size;
    double psnr;           // dB over all 8-bit samples; infinity for equal images
    double ssim, ms_ssim;  // of luma; 1 for equal images
    double squeezenet;     // distance of SqueezeNet's features; 0 for equal images
    double gmsd;           // standard deviation of gradient similarity; 0 for equal images
    double hf;             // finest detail: its rms relative to the original's
    double hf_correlation; // correlation of the finest detail with the original's
    double mesh4;          // power at periods of 4 pixels relative to neighbouring frequencies
    double original_mesh4; // the same, of the original
    // By zenith_evaluate only: the distance of the image's latent from the original's, as
    // |difference| / |original's|, and the seconds that encoding and decoding took.
    double latent_distance, encode_seconds, decode_seconds;
} zenith_quality;

// Compares two images of the same size, in memory (8-bit RGB, HWC, rows without gaps).
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_compare(zenith_context *context,
                                                          zenith_judge *judge,
                                                          const zenith_image *original,
                                                          const zenith_image *picture,
                                                          zenith_quality *out);

// Encodes `original` with one model, decodes the latent into `picture` with another (or the same)
// one, and compares the two images, which are as for zenith_compare. The models must have the same
// factor and number of latent channels. params may be NULL; its max_memory bounds the encoder and
// the decoder, and its facts and results are ignored.
ZENITH_MUST_CHECK ZENITH_API zenith_status
zenith_evaluate(zenith_context *context, zenith_judge *judge, zenith_model *encoder,
                zenith_model *decoder, const zenith_image *original, const zenith_image *picture,
                const zenith_run_params *params, zenith_quality *out);

// --- structs with their defaults: zenith_TYPE_init(&it) ------------------------------------------

ZENITH_DEFINE_INIT(zenith_train_report)
ZENITH_DEFINE_INIT(zenith_train_params)
ZENITH_DEFINE_INIT(zenith_prune_params)
ZENITH_DEFINE_INIT(zenith_prune_info)
ZENITH_DEFINE_INIT(zenith_judge_params)
ZENITH_DEFINE_INIT(zenith_quality)

#ifdef __cplusplus
}
#endif
#endif
