// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What can be trained. The trainer knows steps, optimizers, checkpoints, logs and processes; a task
// knows which networks learn, what a sample is, which loss there is and what is worth looking at. A
// task is one file and one row of the table in task.c.
#ifndef ZN_TRAIN_RUN_TASK_H
#define ZN_TRAIN_RUN_TASK_H

#include "src/train/run/parts.h"

typedef struct zn_train_task {
    // Fills `trained`, the networks that learn, without values or where their first weights are.
    zenith_status (*open)(zn_trainer *t, zn_error *err);
    // Data that are no pictures: fills `rows`, `checksum` and `held_count`. Samples then have a
    // number and no bytes. NULL: crops of pictures.
    zenith_status (*open_data)(zn_trainer *t, zn_error *err);
    // Before the graphs are made, after data and held crops are there. NULL: nothing is left to do.
    zenith_status (*prepare)(zn_trainer *t, zn_error *err);
    zn_train_builder (*builder)(const zn_trainer *t);
    // Before each batch of a step: asks a teacher what its samples should become. NULL: there is
    // none.
    zenith_status (*ask)(zn_trainer *t, zn_error *err);
    // Makes a crop, or whatever zn_data_get gave, a sample; the cookie is the trainer.
    zn_batch_fill_fn *fill;
    // Adds the samples of the last batch, in their order, to means over n samples.
    void (*add)(const zn_trainer *t, size_t count, double n, zn_step_facts *facts);
    // Judges `count` held crops; draws them as a picture (NULL: they are none). A failure is told,
    // and the run goes on.
    zenith_status (*validate)(zn_trainer *t, size_t count, zn_step_facts *facts, zn_error *err);
    zenith_status (*draw)(zn_trainer *t, size_t count, const char *path, zn_error *err);
    // Writes a block of weights as files of the model.
    zenith_status (*write)(const zn_trainer *t, const char *folder, const float *block,
                           zn_error *err);
    void (*close)(zn_trainer *t); // releases `own`; may be NULL
} zn_train_task;

extern const zn_train_task zn_train_autoencoder, zn_train_diffae, zn_train_diffae_prior,
    zn_train_diffae_classifier, zn_train_words;

const zn_train_task *zn_train_task_of(const zn_train_config *config);

#endif
