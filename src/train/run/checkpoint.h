// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run needs to go on as if it had never stopped: weights, both moments and the average (a
// discriminator has none), as tensors "weights.NAME", "m.NAME", "v.NAME", "ema.NAME" of one
// safetensors file, and in its metadata the step, the loss scale of f16 and what the run is (config
// identity, checksum of the data), and a checksum of all of it. Which sample comes next follows
// from the step. A file appears whole or not at all; the two newest are kept, so that a run goes on
// from the older one where a disk has damaged the newest.
#ifndef ZN_TRAIN_RUN_CHECKPOINT_H
#define ZN_TRAIN_RUN_CHECKPOINT_H

#include "src/data/sources.h"
#include "src/format/tensor/safetensors.h"
#include "src/train/network/network.h"
#include "src/train/optim/optimizer.h"

typedef struct zn_run_identity {
    const char *config; // zn_train_config_identity
    const char *data;   // checksum
} zn_run_identity;

// Writes FOLDER/checkpoint-STEP.safetensors and keeps one older one. Others are removed, also those
// of later steps: a run that passes a step again could not go on from them.
zenith_status zn_checkpoint_write(const char *folder, const zn_network *networks, size_t count,
                                  const zn_optimizer *optimizer, const zn_run_identity *identity,
                                  zn_error *err);

// Whether the folder has a checkpoint, and the newest one's step.
zenith_status zn_checkpoint_find(const char *folder, bool *found, uint64_t *step, zn_error *err);
// Fills the optimizer's blocks, step and loss scale from the newest one that is whole, and tells
// `skip` which ones are damaged. Refuses one of another run.
zenith_status zn_checkpoint_read(const char *folder, const zn_network *networks, size_t count,
                                 zn_optimizer *optimizer, const zn_run_identity *identity,
                                 zn_skip_fn *skip, void *cookie, zn_error *err);
// The same from one file. ZENITH_BAD_FILE where it is damaged; the blocks are then filled in part.
zenith_status zn_checkpoint_take(const zn_safetensors *file, const zn_network *networks,
                                 size_t count, zn_optimizer *optimizer,
                                 const zn_run_identity *identity, zn_error *err);
// SHA-256 of the metadata, but for the checksum itself, and of all tensors with their names and
// shapes.
void zn_checkpoint_checksum(const zn_safetensors *file, char hex[65]);

// Removes what writers that were killed have left in the folder.
zenith_status zn_checkpoint_clean(const char *folder, zn_error *err);

// The weights (or their average) as the model's own files: FOLDER/NAME_decoder.safetensors.
zenith_status zn_weights_write(const char *folder, const zn_network *network, const float *block,
                               zn_error *err);
// The same of several networks as one file with whole names: FOLDER/model.safetensors. beside: what
// it also has; NULL: nothing.
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
