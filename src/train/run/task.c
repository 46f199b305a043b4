// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/run/task.h"

static const zn_train_task *const tasks[ZN_TRAIN_KINDS] = {
    [ZN_TRAIN_AUTOENCODER] = &zn_train_autoencoder,
    [ZN_TRAIN_DIFFAE] = &zn_train_diffae,
    [ZN_TRAIN_DIFFAE_PRIOR] = &zn_train_diffae_prior,
    [ZN_TRAIN_DIFFAE_CLASSIFIER] = &zn_train_diffae_classifier,
    [ZN_TRAIN_WORDS] = &zn_train_words,
};

const zn_train_task *zn_train_task_of(const zn_train_config *config)
{
    return tasks[config->task];
}
