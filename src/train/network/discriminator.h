// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A small network that learns to tell reconstructions from photographs while the model learns: what
// it can tell them by (texture that is missing, a mesh that is too much) is what the adversarial
// loss pushes the model away from. Each score is of a patch of 17x17 pixels, at every fourth.
//
//     picture ── conv 3 ── relu ── conv 3, /2 ── relu ── conv 3, /2 ── relu ── conv 3 ── scores
//           3         width            2 width             2 width                1
//
// The first layer sees every pixel at stride 1, so no lattice of pixels is favoured.
#ifndef ZN_TRAIN_NETWORK_DISCRIMINATOR_H
#define ZN_TRAIN_NETWORK_DISCRIMINATOR_H

#include "src/train/config/config.h"
#include "src/train/network/network.h"

// Its parameters, without values.
zenith_status zn_discriminator_create(int64_t width, zn_network *out, zn_error *err);

// AdamW as it is usual for discriminators: a constant rate, a short memory, no decay. model: where
// the limit of the gradient's norm comes from.
zn_train_optimizer zn_discriminator_optimizer(const zn_train_discriminator *settings,
                                              const zn_train_optimizer *model);

// The scores of a picture. nodes[i] is the node of parameter i, or NULL: then it becomes that.
zn_node *zn_discriminator_build(const zn_network *network, zn_graph *graph, zn_node *picture,
                                zn_node **nodes);

// What the discriminator is trained by (Lim and Ye, 2017, "Geometric GAN"): the means of
// max(1 - score, 0) of the photograph and of max(1 + score, 0) of the reconstruction.
zn_node *zn_discriminator_loss(zn_graph *graph, zn_node *photograph, zn_node *reconstruction);

#endif
