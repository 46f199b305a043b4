// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Making models: training, pruning, calibration for int8, and the judge of image quality.
// Experimental: this header may change with any version. The rules are those of zenith.h.
#ifndef ZENITH_TRAIN_H
#define ZENITH_TRAIN_H

#include "zenith/zenith.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- training ------------------------------------------------------------------------------------

// How a training run goes, after each step.
typedef struct zenith_train_report {
    size_t size;
    uint64_t step, steps;
    double loss;
    double psnr; // dB, mean over the step's pictures, of values that are not rounded; NaN: none are
                 // made
    double images_per_second, seconds_left;
} zenith_train_report;
// Not zero: stop, as by zenith_train_params.cancel.
typedef int zenith_train_fn(void *cookie, const zenith_train_report *report);
// A picture that cannot be used, once for each; the run goes on without it.
typedef void zenith_skip_fn(void *cookie, const char *name, const char *reason);

typedef struct zenith_train_params {
    size_t size;
    const char *config; // path of the run's JSON file; docs/TRAINING.md
    bool resume;        // go on from the newest checkpoint in the config's output folder, if any
    uint64_t stop_at;   // a step to stop at, with a checkpoint; 0: the config's last
    zenith_train_fn *report;
    void *report_cookie;
    // Finishes the step and writes a checkpoint; the call then returns ZENITH_CANCELLED.
    zenith_cancel *cancel;
    zenith_skip_fn *skip; // may be NULL; gets report_cookie
} zenith_train_params;

// Trains a model as the config says. The context's threads x streams is the number of pictures
// computed at once where the config does not say. A run that was stopped or killed and resumed ends
// in the same bits as one that was not.
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_train(zenith_context *context,
                                                        const zenith_train_params *params);

// --- pruning -------------------------------------------------------------------------------------

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

// --- calibration ---------------------------------------------------------------------------------
// Finds how the model's values are spread on `images` (training pictures in memory, at least 8;
// crops of about 256 x 256 do) and which layers bear 8 bits, and writes that to `path`. Models
// opened from then on find it as NAME.calib.json in the folder of their weights or on the search
// path (zenith_model_params.weights).
ZENITH_MUST_CHECK ZENITH_API zenith_status zenith_calibrate(zenith_context *context,
                                                            zenith_model *model,
                                                            const zenith_image *images,
                                                            size_t count, const char *path,
                                                            const zenith_run_params *params);

// --- quality -------------------------------------------------------------------------------------

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
