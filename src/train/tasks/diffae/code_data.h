// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Codes as what is trained on, for the tasks of a diffusion autoencoder's prior and classifier. A
// sample of the runner is several codes, one in each row, so that the weights of a small network
// are read once for all of them; a code's number in the run is the sample's number times the rows,
// plus the row. Which code a number is, is a pure function of the data's seed: all of them in a
// shuffled order, then again in another.
#ifndef ZN_TRAIN_TASKS_DIFFAE_CODE_DATA_H
#define ZN_TRAIN_TASKS_DIFFAE_CODE_DATA_H

#include "src/format/latent/code_set.h"
#include "src/train/tasks/diffae/training.h"

typedef struct zn_code_data {
    zn_code_set set;  // its codes are normalised: less the mean, over the deviation
    zn_code_set held; // of validation, by the same mean and deviation; count 0: there are none
} zn_code_data;

// What the prior and the classifier have in common; `own` of the trainer begins with it.
typedef struct zn_code_task {
    zn_json *document;     // that `config` is of; NULL: another's
    const zn_json *config; // while networks are opened
    char *text;            // config.json of the results; NULL: none
    zn_diffae_shape shape;
    zn_code_data data;
} zn_code_task;

// Networks of these parts, as zn_train_task.open makes them: with weights of a model, or by what
// config.json says of the network with so many attributes (0: as it says). `own` is there already.
zenith_status zn_code_task_open(zn_trainer *t, const char *const *parts, int64_t attributes,
                                zn_error *err);
void zn_code_task_free(zn_code_task *task);

// The codes of the config, normalised; fills what zn_train_task.open_data does.
zenith_status zn_code_data_open(zn_trainer *t, zn_code_data *out, zn_error *err);
// After rows of either set were left out.
void zn_code_data_hold(zn_trainer *t, const zn_code_data *data);
void zn_code_data_free(zn_code_data *data);

// A row of a sample: which code it is, and its number in the run, by which all that is random about
// it is made.
typedef struct zn_code_row {
    const zn_code_set *set;
    size_t index; // in the set
    uint64_t number;
} zn_code_row;
zn_code_row zn_code_data_row(const zn_trainer *t, const zn_code_data *data, uint64_t sample,
                             size_t row);

// A zn_batch_fetch_fn over the samples that are held back.
zenith_status zn_code_data_held(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                zn_error *err);

// zn_train_task.write: `text` as config.json, and the weights with mean and deviation.
zenith_status zn_code_task_write(const zn_trainer *t, const char *folder, const float *block,
                                 zn_error *err);

#endif
