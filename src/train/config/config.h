// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a training run is: one JSON file. Every key is checked; one that is not known, of the wrong
// type or out of range is refused with its name and what is allowed. Paths are taken as the program
// is started: relative to its current folder.
//
//     {"model": "taesd", "part": "decoder",
//      "init": {"weights": "weights"},
//      "data": {"sources": ["photos", "more.tar"], "crop": 128, "flip": true},
//      "batch": 16, "steps": 100000,
//      "optimizer": {"lr": 1e-4, "warmup": 500, "ema": 0.999},
//      "losses": [{"kind": "charbonnier", "weight": 1}, {"kind": "feature", "weight": 0.1}],
//      "dtype": "bf16", "checkpoint_every": 1000, "sample_every": 500,
//      "validation": {"sources": ["held_out"], "count": 32}, "validate_every": 1000,
//      "output": "runs/first"}
//
// "task" says what is trained (task.h); an autoencoder where it says nothing. A diffusion
// autoencoder's run has "network", which is what config.json says of such a model
// (model/diffae/config.h), and needs no "losses". Its prior and its classifier learn from codes:
//
//     {"model": "diffae", "task": "diffae-classifier", "autoencoder": "runs/first/ema",
//      "data": {"codes": "train.safetensors", "labels": "labels.json"},
//      "validation": {"codes": "test.safetensors"}, "batch": 32, "steps": 10000,
//      "output": "runs/classifier"}
//
// A model from words to pictures has two networks, and learns from latents and captions
// (format/archive/caption_ids.h):
//
//     {"model": "z-image", "task": "words", "text": {"hidden_size": 256, ..},
//      "network": {"dim": 384, ..},
//      "data": {"latents": "latents.safetensors", "captions": "captions.jsonl", "drop": 0.1},
//      "timesteps": {"mean": 0, "deviation": 1}, "batch": 32, "steps": 100000,
//      "output": "runs/words"}
#ifndef ZN_TRAIN_CONFIG_CONFIG_H
#define ZN_TRAIN_CONFIG_CONFIG_H

#include "src/base/json.h"
#include "src/tensor/type.h"
#include "src/train/data/corrupt.h"

enum { ZN_TRAIN_LOSSES = 16, ZN_TRAIN_SOURCES = 256 };

typedef enum zn_loss_kind {
    ZN_LOSS_L1 = 0,
    ZN_LOSS_MSE,
    ZN_LOSS_CHARBONNIER,
    ZN_LOSS_FEATURE,    // mean square of the difference of latents, through the frozen encoder
    ZN_LOSS_GRADIENT,   // L1 of the differences of neighbouring pixels
    ZN_LOSS_WALSH,      // L1 of the 8x8 Walsh spectrum
    ZN_LOSS_SQUEEZENET, // the distance of docs/EVALUATION.md
    ZN_LOSS_STAGES, // the same distance of what is inside the frozen encoder, at each resolution
    ZN_LOSS_LATENT, // L1 of the latent and the frozen encoder's
    ZN_LOSS_ADVERSARIAL, // what a discriminator that is trained beside the network thinks of it
    ZN_LOSS_LATTICE,     // L1 of what pixels of the same place in a lattice of 4x4 have in common
    ZN_LOSS_TEXTURE,     // L1 of how much finest detail there is in blocks of 8x8
    ZN_LOSS_KL,          // of the encoder's distributions and N(0, 1); the latent is then a sample
    ZN_LOSS_LOGISTIC,    // of a classifier's scores and labels
    ZN_LOSS_KINDS
} zn_loss_kind;
const char *zn_loss_name(zn_loss_kind kind); // "l1"

typedef enum zn_train_kind {
    ZN_TRAIN_AUTOENCODER = 0,
    ZN_TRAIN_DIFFAE,            // a diffusion autoencoder's encoder and U-Net
    ZN_TRAIN_DIFFAE_PRIOR,      // its prior, on codes
    ZN_TRAIN_DIFFAE_CLASSIFIER, // its classifier, on codes and labels
    ZN_TRAIN_WORDS, // a text encoder and a diffusion transformer, on latents and captions
    ZN_TRAIN_KINDS
} zn_train_kind;

// How random weights are drawn (network.h).
typedef enum zn_init_rule { ZN_INIT_HE = 0, ZN_INIT_PYTORCH } zn_init_rule;

typedef struct zn_train_loss {
    int kind; // zn_loss_kind
    double weight;
    bool teacher; // against the frozen model's picture, not the original
} zn_train_loss;

typedef struct zn_train_optimizer {
    double lr, min_lr;
    int64_t
        warmup; // steps of linear rise to lr; then half a cosine down to min_lr at the last step
    double beta1, beta2, eps, weight_decay;
    double clip;          // of the gradient's norm; 0: none
    double ema;           // decay of the averaged weights for each step; 0: none are kept
    double loss_scale;    // of f16, to begin with: a power of two; 0: none
    int64_t scale_window; // steps without an overflow after which it is doubled
} zn_train_optimizer;

// Of the network that learns to tell reconstructions from photographs (discriminator.h).
typedef struct zn_train_discriminator {
    double lr;
    int64_t start; // steps before the loss has its weight
    int64_t width; // channels of the first layer
} zn_train_discriminator;

// Of models whose blocks have scores (score_schedule.h): which share of them is left out in the
// end, and the steps over which it rises from none.
typedef struct zn_train_prune {
    double target; // 0: there is no schedule
    int64_t begin, end;
} zn_train_prune;

// Of flow matching: sigma is the logistic function of a normal number with this mean and deviation.
typedef struct zn_train_timesteps {
    double mean, deviation;
    double shift; // of the steps by which samples are made (diffusion/flow_match.h)
} zn_train_timesteps;

// Of words: a student that takes few steps without guidance learns from the weights that it begins
// with.
typedef struct zn_train_distil {
    int64_t steps;   // of the student; 0: nothing is distilled
    int64_t inner;   // of the teacher, for each of them
    double guidance; // of the teacher
} zn_train_distil;

typedef struct zn_train_data {
    const char *sources[ZN_TRAIN_SOURCES];
    size_t sources_count;
    const char *codes, *labels;     // files, of tasks that learn from codes
    const char *latents, *captions; // files, of words
    double drop;                    // how often a caption is the empty one
    int64_t crop;
    bool flip, whole;
    double min_scale;
    int64_t seed, workers, cache_mb;
    zn_corruption corrupt; // of what the network sees; losses compare with the crop as it was
} zn_train_data;

typedef struct zn_train_validation {
    const char *sources[ZN_TRAIN_SOURCES];
    size_t sources_count;
    const char *codes, *labels;     // as of data; labels NULL: the same file
    const char *latents, *captions; // as of data
    int64_t count;                  // crops, codes or latents; 0: all codes
} zn_train_validation;

typedef struct zn_train_config {
    zn_json *document; // owns the texts
    char *text;        // the file as it is
    size_t text_size;
    int task; // zn_train_kind
    const char *model;
    const zn_json *network;      // what config.json says of it; NULL: nothing
    const zn_json *text_network; // the same of the text encoder; NULL: nothing
    // A folder whose config.json says it; of words, what samples are decoded by. NULL: none.
    const char *autoencoder;
    const char *tokenizer; // of words: tokenizer.json or its folder; NULL: captions are numbers
    int part;              // ZENITH_ENCODER | ZENITH_DECODER
    const char *weights;   // to begin with; NULL: random
    int64_t init_seed;     // of random weights
    int64_t width;         // of a network with random weights
    int rule;              // zn_init_rule, of random weights
    double score;          // of each part of it that can be left out (zn_nn_zenith)
    const char *donor;     // model of `weights`, where it is another: what both have is copied
    const char *layout;    // of a network that is not read from its own weights; NULL: the usual
    // Folder of what is solved for: what draws the mean picture of words, or a linear encoder;
    // NULL: init.weights have it
    const char *draft;
    const char *frozen;      // the model of the parts that are not trained; NULL: `model`
    const char *frozen_from; // its weights; NULL: searched for by name
    const char *squeezenet;  // weights of ZN_LOSS_SQUEEZENET; NULL: searched for by name
    zn_train_data data;
    zn_train_validation validation;
    int64_t batch, accumulate, steps;
    int64_t stack; // of words: samples of one run
    zn_train_optimizer optimizer;
    zn_train_loss losses[ZN_TRAIN_LOSSES];
    size_t losses_count;
    zn_train_discriminator discriminator;
    zn_train_prune prune;
    zn_train_timesteps timesteps;
    zn_train_distil distil;
    int dtype; // ZN_F32, ZN_BF16 or ZN_F16
    // ZN_S8, ZN_F8_E4M3, ZN_F8_E5M2: what training rounds to (quantise.h); ZN_F32: nothing
    int quantise;
    int64_t threads;
    bool residual;          // the result is the decoder's picture plus what the encoder saw
    int64_t feature_window; // side of the middle of a crop that losses see through networks; 0: all
    bool recompute; // maps that gradients need are computed again, for less memory; the same bits
    int64_t log_every, checkpoint_every, sample_every, samples, validate_every;
    int64_t results_every; // steps after which results are written before the end; 0: never
    int64_t eval_steps;    // of the way from noise to a picture, where samples are made so
    double guidance;       // of words: of samples (diffusion/flow_match.h)
    const char *output;
} zn_train_config;

// Whether a loss compares with the frozen model's picture.
bool zn_train_has_teacher(const zn_train_config *config);
// The first loss of a kind; NULL: there is none (of ZN_LOSS_ADVERSARIAL: and no discriminator).
const zn_train_loss *zn_train_find_loss(const zn_train_config *config, zn_loss_kind kind);

zenith_status zn_train_config_open(const char *path, zn_train_config *out, zn_error *err);
// From text; `where` names it in messages.
zenith_status zn_train_config_parse(const char *text, size_t size, const char *where,
                                    zn_train_config *out, zn_error *err);
void zn_train_config_close(zn_train_config *config); // a zeroed one is fine

// What decides the weights that come out, one "key = value" per line: kept in checkpoints, so that
// a run is not continued as another one. Free it with zn_free.
enum { ZN_TRAIN_CONTENTS = 8 };
typedef struct zn_train_read {
    // Of what is read and not trained: the key that names it, and its SHA-256.
    struct zn_train_content {
        const char *key;
        char sha256[65];
    } contents[ZN_TRAIN_CONTENTS];
    size_t count;
} zn_train_read;
zenith_status zn_train_config_identity(const zn_train_config *config, const zn_train_read *read,
                                       char **out, zn_error *err);
// Fails with the first line that differs.
zenith_status zn_train_config_agree(const char *identity, const char *stored, zn_error *err);

#endif
