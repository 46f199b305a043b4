// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// SqueezeNet 1.0 (Iandola et al., arXiv 1602.07360) without its classifier: what perceptual losses
// and distances look through.
#ifndef ZN_NN_SQUEEZENET_H
#define ZN_NN_SQUEEZENET_H

#include "src/nn/scope.h"

// Added to a pixel's length where distances of features normalise channels.
#define ZN_FEATURE_EPSILON 1e-10f

enum { ZN_SQUEEZENET_FEATURES = 8, ZN_SQUEEZENET_SIDE = 7 }; // the least side of a picture

// x: RGB, 0 .. 1. features: the results, after their relu, of conv1 and fire3 .. fire9. Returns the
// last of them. Parameters are named as in Caffe: conv1.weight, fire2/conv1x1_1.weight,
// fire2/conv1x1_2.weight, fire2/conv3x3_2.weight, each with its .bias.
zn_node *zn_nn_squeezenet(const zn_scope *scope, zn_node *x,
                          zn_node *features[ZN_SQUEEZENET_FEATURES]);

#endif
