// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses on pictures: each is one number [1], f32.
#ifndef ZN_TRAIN_LOSSES_H
#define ZN_TRAIN_LOSSES_H

#include "src/format/weights.h"
#include "src/graph/graph.h"
#include "src/train/config.h"

typedef struct zn_loss_inputs {
    zn_node *original, *reconstruction;                   // pictures
    zn_node *original_features, *reconstruction_features; // latents, of ZN_LOSS_FEATURE
    const zn_weights *squeezenet;                         // of ZN_LOSS_SQUEEZENET
} zn_loss_inputs;

zn_node *zn_loss_build(zn_graph *graph, zn_loss_kind kind, const zn_loss_inputs *inputs);

// The sum of the losses by their weights.
zn_node *zn_loss_sum(zn_graph *graph, const zn_train_loss *losses, zn_node *const *values,
                     size_t count);

#endif
