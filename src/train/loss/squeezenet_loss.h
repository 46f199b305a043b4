// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The SqueezeNet distance of docs/EVALUATION.md as a loss: the figure of `zenith eval`, with a
// gradient.
#ifndef ZN_TRAIN_LOSS_SQUEEZENET_LOSS_H
#define ZN_TRAIN_LOSS_SQUEEZENET_LOSS_H

#include "src/format/tensor/weights.h"
#include "src/graph/graph.h"

// Opens SqueezeNet's weights: the file `path`, or if that is NULL the one that `zenith eval` would
// find with a model whose weights are `models` (may be NULL).
zenith_status zn_squeezenet_loss_open(const char *path, const char *models, zn_weights **out,
                                      zn_error *err);

// One number [1], f32. The pictures are RGB, 0 .. 1; the weights must outlive the graph.
zn_node *zn_squeezenet_loss(zn_graph *graph, const zn_weights *weights, zn_node *reconstruction,
                            zn_node *original);

#endif
