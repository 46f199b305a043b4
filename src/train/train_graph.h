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
// With a loss of the kind kl the encoder gives a mean and a variance of each number of the latent. Then the
// decoder learns from a sample, and without gradients, where the result is judged, sees the mean, as
// `zenith reconstruct` has it.
//
// Where crops are spoiled (corrupt.h), the encoder has an input of its own, the second one; with
// `residual` what it saw is added to the decoder's picture.
//
// With an adversarial loss the graph has the discriminator too, of both pictures, and a second set of
// gradients: those of its own loss, which do not go into the model. So a step of both is made from the
// same pictures.
//
// Outputs, in this order: the loss, each loss by itself, the mean square error, the discriminator's
// loss if there is one, and then either the gradients of the parameters or the reconstruction.
#ifndef ZN_TRAIN_TRAIN_GRAPH_H
#define ZN_TRAIN_TRAIN_GRAPH_H

#include "src/base/cpu.h"
#include "src/train/config.h"
#include "src/train/network.h"

typedef struct zn_train_networks {
    const zn_network *encoder, *decoder;
    // What losses compare with: features of the frozen encoder, the frozen model's picture. NULL: no
    // loss needs it.
    const zn_network *frozen_encoder, *frozen_decoder;
    const zn_weights *squeezenet;    // of ZN_LOSS_SQUEEZENET; NULL: not needed
    const zn_network *discriminator; // of ZN_LOSS_ADVERSARIAL; NULL: not needed
    bool encoder_frozen, decoder_frozen;
    const zn_calibration *calibration; // by which trained networks are rounded; NULL: they are not
} zn_train_networks;

// Numbers that are set for each run.
typedef enum zn_train_scalar {
    ZN_TRAIN_LOSS_SCALE = 0, // of gradients in f16
    ZN_TRAIN_ADVERSARY,      // of the adversarial loss, beside its weight
    ZN_TRAIN_NOISE,          // which noise a sampled latent has: one for each sample of the data
    ZN_TRAIN_SCALARS
} zn_train_scalar;

typedef struct zn_train_graph {
    zn_graph plain;                            // owns constants that the other points to
    zn_graph graph;                            // fused and typed
    size_t numbers;                            // outputs before the gradients or the reconstruction
    zn_train_scalar scalars[ZN_TRAIN_SCALARS]; // that it has, in its order
    int scalars_count;
    // Of a graph with gradients: output numbers + i is that of gradients[i].
    const zn_train_parameter **gradients;
    size_t gradients_count;
} zn_train_graph;

zenith_status zn_train_graph_create(const zn_train_config *config,
                                    const zn_train_networks *networks, bool gradients,
                                    const zn_cpu *cpu, zn_train_graph *out, zn_error *err);
void zn_train_graph_free(zn_train_graph *graph); // zeroes it; a zeroed one is fine

#endif
