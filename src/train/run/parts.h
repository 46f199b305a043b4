// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The inside of a training run, shared by the files that make it (networks.c, data.c), the one that
// runs it (trainer.c), and trials, which have networks, data and a runner but no steps (trial.c).
#ifndef ZN_TRAIN_RUN_PARTS_H
#define ZN_TRAIN_RUN_PARTS_H

#include "src/base/os.h"
#include "src/ranks/ranks.h"
#include "src/train/data/data.h"
#include "src/train/network/batch_runner.h"
#include "src/train/optim/score_schedule.h"
#include "src/train/run/checkpoint.h"
#include "src/train/run/log.h"
#include "src/train/run/trainer.h"
#include "src/train/tasks/autoencoder/graph.h"

// What was skipped before there was a log: a picture, or a damaged checkpoint.
typedef struct zn_skip {
    const char *name, *reason;
    struct zn_skip *next;
} zn_skip;

enum { ZN_TRAINED = 4 };
struct zn_train_task;

typedef struct zn_trainer {
    const zn_train_options *options;
    const struct zn_train_task *task;
    void *own; // the task's
    zn_train_config config;
    zn_ranks ranks;
    zn_model *start, *frozen;
    zn_network
        trained[ZN_TRAINED]; // parts of the model; behind them the discriminator, if there is one
    size_t trained_count;    // parts of the model
    size_t kept_count;       // of all of them
    zn_network frozen_encoder, frozen_decoder;
    zn_weights *squeezenet;
    zn_model *ranges;                  // what was `start`, with "quantise" to int8
    const zn_calibration *calibration; // its own
    zn_train_networks networks;
    zn_executor *executor;
    zn_optimizer optimizer;
    float *shown; // the weights as networks see them (quantise.h); NULL: as they are
    zn_score_schedule scores;
    zn_train_graph graphs[2];
    zn_batch_runner *runner;
    zn_data *data;
    zn_lock *lock; // on the output folder; NULL: not yet, or another process of the run has it
    zn_train_read read;
    bool numbered; // samples have a number and no pixels: the task knows what they are
    char *identity;
    uint8_t *held; // crops of validation and samples
    size_t held_count;
    size_t rows;            // of a sample, where the task puts several into one run; 0: it is one
    char checksum[65];      // of data that are no pictures
    float *held_spoiled;    // what the network sees of them; NULL: the crops themselves
    float *reconstructions; // of the samples
    float *group;           // the gradient of one batch of several that a step accumulates
    size_t batches;         // of this step that are done
    zn_training_log log;
    zenith_status log_status; // of lines that the data wrote
    zn_arena skips;
    zn_skip *first_skip;
    double begun, plotted; // zn_clock_seconds
    double step_seconds;   // running mean
    double cpu_seconds;    // of all steps
} zn_trainer;

// Of a sample: crops, or whatever the task trains on.
static inline size_t zn_trainer_rows(const zn_trainer *t)
{
    return t->rows > 0 ? t->rows : 1;
}

// Samples of one batch.
static inline size_t zn_trainer_batch(const zn_trainer *t)
{
    return (size_t)t->config.batch / zn_trainer_rows(t);
}

// Samples of a step, over its batches.
static inline size_t zn_trainer_images(const zn_trainer *t)
{
    return zn_trainer_batch(t) * (size_t)t->config.accumulate;
}

// Of a crop; 0 where there are none.
static inline size_t zn_trainer_sample_bytes(const zn_trainer *t)
{
    return (size_t)(t->config.data.crop * t->config.data.crop * 3);
}

// --- opening, in this order; what was opened is released whether or not the rest could be --------

// By the config, which is there already.
zenith_status zn_trainer_open_networks(zn_trainer *t, zn_error *err);
zenith_status zn_trainer_open_executor(zn_trainer *t, zn_error *err);
// The flat blocks, filled with what the run begins with.
zenith_status zn_trainer_open_optimizer(zn_trainer *t, zn_error *err);
// The pictures, and the crops that are held back.
zenith_status zn_trainer_open_data(zn_trainer *t, zn_error *err);
zenith_status zn_trainer_open_runner(zn_trainer *t, zn_error *err);
// Networks see the optimizer's weights as they are now.
void zn_trainer_show(zn_trainer *t);
// Exchanges the model's weights with a block of others, such as their average, so that the same
// graph computes with those.
void zn_trainer_exchange(zn_trainer *t, float *block);
void zn_trainer_release(zn_trainer *t, bool well);

// --- what the run is -----------------------------------------------------------------------------

// Records what a task reads and does not train: a run is not continued with other contents. `key`
// is a literal.
void zn_trainer_record(zn_trainer *t, const char *key, const char sha256[65]);
void zn_trainer_record_text(zn_trainer *t, const char *key, const char *text);
// Makes the output folder and locks it against other runs, once. Only the first process does.
zenith_status zn_trainer_claim(zn_trainer *t, zn_error *err);
// Fails in every process where one does not begin with the first one's config, data, step and
// weights.
zenith_status zn_trainer_agree(zn_trainer *t, const zn_run_identity *identity, zn_error *err);

// --- samples -------------------------------------------------------------------------------------

// The number in the run of a sample of the step's batch that is next.
uint64_t zn_trainer_number(const zn_trainer *t, size_t index);
// A zn_batch_fetch_fn over that batch; the cookie is the trainer.
zenith_status zn_trainer_next(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                              zn_error *err);

// Tells, logs and notes what cannot be used; the cookie is the trainer.
void zn_trainer_skip(void *cookie, const char *name, const char *reason);

// --- pictures ------------------------------------------------------------------------------------

// A zn_batch_fetch_fn over the crops that are held back; the cookie is the trainer.
zenith_status zn_trainer_held_pixels(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                     zn_error *err);

#endif
