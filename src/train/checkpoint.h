// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run needs to go on as if it had never stopped: weights, both moments and the average (a
// discriminator has none), as tensors "weights.NAME", "m.NAME", "v.NAME", "ema.NAME" of one
// safetensors file, and in its metadata the step, the loss scale of f16 and what the run is (config
// identity, checksum of the data). Which sample comes next follows from the step. A file appears whole
// or not at all; the two newest are kept.
#ifndef ZN_TRAIN_CHECKPOINT_H
#define ZN_TRAIN_CHECKPOINT_H

#include "src/format/file_tensor.h"
#include "src/train/network.h"
#include "src/train/optimizer.h"

typedef struct zn_run_identity {
    const char *config; // zn_train_config_identity
    const char *data;   // checksum
} zn_run_identity;

// Writes FOLDER/checkpoint-STEP.safetensors and removes all but the two newest.
zenith_status zn_checkpoint_write(const char *folder, const zn_network *networks, size_t count,
                                  const zn_optimizer *optimizer, const zn_run_identity *identity,
                                  zn_error *err);

// Whether the folder has a checkpoint, and the newest one's step.
zenith_status zn_checkpoint_find(const char *folder, bool *found, uint64_t *step, zn_error *err);
// Fills the optimizer's blocks, step and loss scale from the newest one. Refuses one of another run.
zenith_status zn_checkpoint_read(const char *folder, const zn_network *networks, size_t count,
                                 zn_optimizer *optimizer, const zn_run_identity *identity,
                                 zn_error *err);

// Removes what writers that were killed have left in the folder.
zenith_status zn_checkpoint_clean(const char *folder, zn_error *err);

// The weights (or their average) as the model's own files: FOLDER/NAME_decoder.safetensors.
zenith_status zn_weights_write(const char *folder, const zn_network *network, const float *block,
                               zn_error *err);
// The same of several networks as one file with whole names: FOLDER/model.safetensors. beside: what it also has; NULL:
// nothing.
typedef struct zn_weights_beside {
    const zn_file_tensor *tensors;
    size_t count;
    const char
        *autoencoder; // SHA-256 of the weights that made the codes it was trained on; NULL: none
} zn_weights_beside;
zenith_status zn_weights_write_whole(const char *folder, const zn_network *networks, size_t count,
                                     const float *block, const zn_weights_beside *beside,
                                     zn_error *err);

#endif
