// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Training with the rounding that a network will run with ("quantise" of the config).
//
// int8: every map that `--dtype int8` stores or multiplies in 8 bits goes through fake_quant, with
// the range that the calibration of the first weights has; which maps these are is asked of the
// passes that compile int8, so that training sees what inference does. The weights of these layers
// are rounded to 127 levels, one scale for each output channel. Where upsampling and the
// convolution after it run as one, inference rounds sums of its weights instead, which training
// does not see.
//
// f8_e4m3, f8_e5m2: weights of layers are rounded as `zenith convert --store` rounds them; maps are
// not.
//
// Weights are rounded outside the graph: it reads a second block, which is made of the first after
// every step. Its gradients are taken for those of the first, straight through the rounding. No
// weight is saturated, because scales follow the largest.
#ifndef ZN_TRAIN_NETWORK_QUANTISE_H
#define ZN_TRAIN_NETWORK_QUANTISE_H

#include "src/train/network/network.h"

// Says of each parameter what it is rounded to (zn_train_parameter.rounded). calibration: of int8.
zenith_status zn_quantise_choose(zn_network *network, zn_type type,
                                 const zn_calibration *calibration, zn_error *err);
// The network reads `shown` from now on.
void zn_quantise_show(zn_network *network, float *shown);
// Fills its places in `shown` with what `weights` has there, rounded.
void zn_quantise_round(const zn_network *network, const float *weights, float *shown);

// zn_network_apply without a prefix, with maps rounded as int8 has them.
zn_node *zn_quantise_apply(const zn_network *network, const zn_calibration *calibration,
                           zn_graph *graph, zn_node *x, zn_node **nodes);

// What names a calibration by what it says: SHA-256.
void zn_quantise_digest(const zn_calibration *calibration, char hex[65]);

// The ranges that the weights in the folder were trained with, as their calibration. NULL: there
// are none.
zenith_status zn_quantise_write_calibration(const zn_calibration *ranges, const char *model,
                                            const char *folder, zn_error *err);

#endif
