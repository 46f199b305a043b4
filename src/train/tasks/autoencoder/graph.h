// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The graph that training runs for one picture: encoder, decoder, losses, and the gradients of the
// trained parameters. Which of the two networks is trained is a matter of where its parameters lie.
//
//     image ── encoder ── latent ── decoder ── reconstruction ── losses ── loss
//       ├───────────────────────────────────────────────────────┤
//       └─ frozen encoder ── frozen decoder ── teacher's picture ┘ (if a loss compares with it)
//
// With a loss of the kind kl the encoder gives a mean and a variance of each number of the latent.
// Then the decoder learns from a sample, and without gradients, where the result is judged, sees
// the mean, as `zenith reconstruct` has it.
//
// Where crops are spoiled (corrupt.h), the encoder has an input of its own, the second one; with
// `residual` what it saw is added to the decoder's picture.
//
// With an adversarial loss the graph has the discriminator too, of both pictures, and a second set
// of gradients: those of its own loss, which do not go into the model. So a step of both is made
// from the same pictures.
#ifndef ZN_TRAIN_TASKS_AUTOENCODER_GRAPH_H
#define ZN_TRAIN_TASKS_AUTOENCODER_GRAPH_H

#include "src/train/network/train_graph.h"

typedef struct zn_train_networks {
    const zn_network *encoder, *decoder;
    // What losses compare with: features of the frozen encoder, the frozen model's picture. NULL:
    // no loss needs it.
    const zn_network *frozen_encoder, *frozen_decoder;
    const zn_weights *squeezenet;    // of ZN_LOSS_SQUEEZENET; NULL: not needed
    const zn_network *discriminator; // of ZN_LOSS_ADVERSARIAL; NULL: not needed
    bool encoder_frozen, decoder_frozen;
    const zn_calibration *calibration; // by which trained networks are rounded; NULL: they are not
} zn_train_networks;

// The building's networks are zn_train_networks.
void zn_autoencoder_graph(zn_train_building *building);
zn_precision zn_autoencoder_precision(const zn_train_building *building, const zn_node *node);

#endif
