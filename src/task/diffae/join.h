// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the stages of training a diffusion autoencoder leave, put together: see zenith_diffae_join.
#ifndef ZN_TASK_DIFFAE_JOIN_H
#define ZN_TASK_DIFFAE_JOIN_H

#include "src/base/status.h"
#include "src/tensor/type.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct zn_diffae_join {
    const char *const
        *sources; // folders or files: the autoencoder, and perhaps the prior and the classifier
    size_t count;
    const char *output; // a file that ends with .safetensors
    zn_type type;       // of the weights
    bool force;         // take what was trained on codes of another autoencoder
} zn_diffae_join;

zenith_status zn_diffae_join_write(const zn_diffae_join *call, zn_error *err);

#endif
