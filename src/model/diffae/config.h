// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What config.json says of a diffusion autoencoder: the sizes of its networks, which go to `ports`
// and `build` as a layout (settings.h), and the schedules that its networks were trained for.
// models/diffae has a file for each published model.
//
//     "image_size": 256                     of pictures
//     "in_channels": 3
//     "channels": 128                       of the first map; level i has channel_mult[i] times as
//                                           many
//     "channel_mult": [1, 1, 2, 2, 4, 4]    of the U-Net
//     "encoder_mult": [1, 1, 2, 2, 4, 4, 4] of the semantic encoder
//     "res_blocks": 2                       in each level on the way down; one more on the way up
//     "attention_resolutions": [16]         heights of maps (of image_size) that have attention
//     "scan_encoder": 0                     1: the semantic encoder's blocks and attention are
//                                           scans (nn/diffae_blocks.h)
//     "linear_code": 0                      1: the code is linear in what networks see, and the
//                                           U-Net sees what it draws back
//                                           (tools/models/diffae_components.py); pictures of
//                                           image_size alone
//     "draft_deviation": 1                  how far what networks see is from that
//     "recall": 0                           so many known pictures draw such codes
//                                           (model/diffae/recall.h)
//     "code_noise": 0                       training adds normal numbers times 0 .. this to such
//                                           codes
//     "sparse_encoder": 0                   1: the semantic encoder sees some of the pixels
//                                           (zn_diffae_see_some)
//     "patch": 1                            2: a square of 2 x 2 pixels is one pixel of four times
//                                           the channels to both networks
//     "contrast": 1                         networks see pictures times this: with more, noise
//                                           hides them later, and a network that predicts velocity
//                                           predicts the picture until there is little noise
//     "temperature": 1                      pictures from drawn noise begin with it times this:
//                                           with less, calmer ones
//     "autoencoder": "zenith-f1-fast"       networks see its latents of pictures, which have
//                                           in_channels channels and are as many times smaller as
//                                           it says; "clip" is false then
//     "latent_mean": [..], "latent_std": [..]  of each channel, that networks see (latent - mean) /
//                                              std
//     "autoencoder_sha256": "..."           of its weights; others are refused
//     "code": 512                           numbers of the semantic code, and of the embedding of
//                                           timesteps
//     "prior_width": 2048, "prior_layers": 10
//     "timesteps": 1000                     of both schedules
//     "betas": "linear 1e-4..0.02", "prior_betas": "const 0.008"
//     "prediction": "noise", "prior_prediction": "noise"      or "start", what there is at
//                                           timestep 0, or "velocity" (base/prediction.h)
//     "attributes": ["5_o_Clock_Shadow", ..] names of the classifier's, in its order
//     "clip": true                          starts are kept within -1 .. 1; usual where there are 3
//                                           channels
#ifndef ZN_MODEL_DIFFAE_CONFIG_H
#define ZN_MODEL_DIFFAE_CONFIG_H

#include "src/base/json.h"
#include "src/base/prediction.h"
#include "src/nn/scope.h"

enum {
    ZN_DIFFAE_MOST_LEVELS = 8,
    ZN_DIFFAE_MOST_BLOCKS = 4,
    ZN_DIFFAE_MOST_PATCH = 8,
    ZN_DIFFAE_MOST_TIMESTEPS = 10000,
    ZN_DIFFAE_PIECE = 16, // linear codes take maps apart by pieces so high and wide
    ZN_DIFFAE_MOST_LINEAR = ZN_DIFFAE_PIECE * ZN_DIFFAE_PIECE,
    ZN_DIFFAE_MOST_RECALL = 1 << 18 // known pictures
};

typedef struct zn_diffae_shape {
    int64_t size, inputs, channels, blocks, code;
    int64_t prior_width, prior_layers, attributes;
    int patch, levels, encoder_levels;
    int multiples[ZN_DIFFAE_MOST_LEVELS], encoder_multiples[ZN_DIFFAE_MOST_LEVELS];
    bool attention[ZN_DIFFAE_MOST_LEVELS]; // by level, of both networks
    bool scans, sparse;                    // the encoder's
    int64_t
        linear; // height and width of what networks see, of which codes are linear; 0: they are not
    int64_t recall; // known pictures, by which codes are drawn; 0: there are none
} zn_diffae_shape;

// Numbers of a map whose codes are linear.
static inline int64_t zn_diffae_linear_values(const zn_diffae_shape *is)
{
    return is->linear * is->linear * is->inputs;
}

// Whether codes can be linear in maps so high and wide; 0: they are not.
static inline bool zn_diffae_linear_fits(int64_t side)
{
    return side <= ZN_DIFFAE_PIECE || side % ZN_DIFFAE_PIECE == 0;
}

// The layout that config.json (NULL: none) says, with so many attributes of the classifier.
void zn_diffae_layout(const zn_json *config, int64_t attributes, char dst[ZN_LAYOUT_SIZE]);
// Its numbers. NULL: those of FFHQ256. False where it is no such layout: then the numbers are those
// too.
bool zn_diffae_shape_read(const char *layout, zn_diffae_shape *out);
// The same for `build`: fails the graph of the scope with a sentence.
bool zn_diffae_shape_of(const zn_scope *scope, zn_diffae_shape *out);

typedef struct zn_diffae_schedule {
    double first, last; // betas, evenly from one to the other
    zn_prediction prediction;
    bool clips; // the start is kept within -1 .. 1
    int timesteps;
    double draft_deviation; // of what networks see from what a linear code draws
} zn_diffae_schedule;

// What a linear code's draft and the noisy map let expect of the answer, at a timestep that has
// these shares of picture and noise: so much of each. The denoiser predicts what is left. Without
// it, it would have to copy the draft.
typedef struct zn_diffae_guess {
    float noisy, draft;
} zn_diffae_guess;
zn_diffae_guess zn_diffae_guess_of(const zn_diffae_schedule *is, double kept, double added);

typedef struct zn_diffae_schedules {
    zn_diffae_schedule picture, prior;
} zn_diffae_schedules;

// config NULL, or what it does not say: as published.
zenith_status zn_diffae_schedules_read(const zn_json *config, zn_diffae_schedules *out,
                                       zn_error *err);

// What networks see of pictures: their pixels, or latents of another model.
enum { ZN_DIFFAE_MOST_INPUTS = 256 };
typedef struct zn_diffae_space {
    char autoencoder[64]; // its name; "": pixels. What follows is of latents
    char sha256[65];      // of its weights; "": any
    float contrast;       // of pixels, that networks see pictures times
    int factor;           // pixels of the picture along each side of one of theirs; 1: pixels
    int64_t channels;
    bool scaled; // there are the numbers below; else they are 0 and 1
    float mean[ZN_DIFFAE_MOST_INPUTS], deviation[ZN_DIFFAE_MOST_INPUTS];
} zn_diffae_space;
// How much noise training adds to linear codes.
zenith_status zn_diffae_code_noise_read(const zn_json *config, float *out, zn_error *err);
// What noise that is drawn is multiplied by, 0 .. 1.
zenith_status zn_diffae_temperature_read(const zn_json *config, float *out, zn_error *err);
// Fails where the config contradicts itself or the autoencoder.
zenith_status zn_diffae_space_read(const zn_json *config, zn_diffae_space *out, zn_error *err);

#endif
