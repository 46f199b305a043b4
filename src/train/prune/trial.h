// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A config's pictures and losses without a run: what they say of networks as they are. Nothing is
// written. The options need a `start`, of the config's model.
#ifndef ZN_TRAIN_PRUNE_TRIAL_H
#define ZN_TRAIN_PRUNE_TRIAL_H

#include "src/train/run/trainer.h"

typedef struct zn_trial zn_trial;
zenith_status zn_trial_open(const zn_train_options *options, zn_trial **out, zn_error *err);
void zn_trial_free(zn_trial *trial);            // NULL is fine
unsigned zn_trial_parts(const zn_trial *trial); // that the config trains

// networks: the encoder and the decoder; the one of a part that the config does not train is not
// looked at. The loss is the mean over the crops of the validation, or a batch where there is none.
zenith_status zn_trial_loss(zn_trial *trial, const zn_network networks[2], double *loss,
                            zn_error *err);
// The gradient of each of `batches` batches, summed over its pictures, in a flat block by the
// parameters' places; `each` gets one after the other in `gradient`.
zenith_status zn_trial_gradients(zn_trial *trial, const zn_network networks[2], size_t batches,
                                 float *gradient, void (*each)(void *cookie), void *cookie,
                                 zn_error *err);

#endif
