// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses on pictures: each is one number [1], f32.
#ifndef ZN_TRAIN_LOSS_LOSSES_H
#define ZN_TRAIN_LOSS_LOSSES_H

#include "src/format/tensor/weights.h"
#include "src/graph/graph.h"
#include "src/train/config/config.h"

// What the frozen encoder makes of a picture.
enum { ZN_FEATURE_STAGES = 4 };
typedef struct zn_features {
    zn_node *stage[ZN_FEATURE_STAGES]; // the last map of each resolution
    int count;
    zn_node *latent;
} zn_features;

typedef struct zn_loss_inputs {
    zn_node *original, *reconstruction, *teacher; // pictures
    struct {
        zn_node *original, *reconstruction, *teacher; // what networks see of them
    } seen;
    zn_node *latent;          // of the encoder; where it gives distributions, their mean
    zn_node *mean, *logvar;   // of the distributions, raw (autoencoder.h); NULL: it gives none
    zn_node *original_latent; // of the frozen encoder
    zn_node *scores;          // the discriminator's of the reconstruction; NULL: there is none
    zn_features original_features, reconstruction_features, teacher_features;
    const zn_weights *squeezenet; // of ZN_LOSS_SQUEEZENET
} zn_loss_inputs;

zn_node *zn_loss_build(zn_graph *graph, const zn_train_loss *loss, const zn_loss_inputs *inputs);

// The sum of the losses by their weights.
zn_node *zn_loss_sum(zn_graph *graph, const zn_train_loss *losses, zn_node *const *values,
                     size_t count);

#endif
