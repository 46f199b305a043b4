// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Spectral blocks: Walsh-Hadamard transforms with learned gates between them, in place of
// convolutions. docs/ZENITH.md tells where they come from, and which of this are readings.
#ifndef ZN_NN_ZENITH_BLOCKS_H
#define ZN_NN_ZENITH_BLOCKS_H

#include "src/nn/scope.h"

// What mixes channels.
typedef enum zn_nn_mix {
    ZN_NN_MIX_GROUPS = 0, // a 1x1 convolution in four groups, with bias
    ZN_NN_MIX_SPECTRAL    // zn_nn_spectral_linear
} zn_nn_mix;

// relu(x + expand(columns(rows(compress(x))))): NAME.compress and NAME.expand mix channels and keep
// their number; rows and columns are gates NAME.row.weight [w, c] and NAME.column.weight [h, c]
// between transforms of whole rows and columns. Gates are for one size of map, a power of two each
// way.
zn_node *zn_nn_zenith_lite(const zn_scope *scope, const char *name, zn_node *x, zn_nn_mix mix);

// A linear layer over channels from n numbers instead of a matrix: permute, scale by NAME.weight
// [n], transform; n is the power of two that holds the channels of x and of the result.
zn_node *zn_nn_spectral_linear(const zn_scope *scope, const char *name, zn_node *x,
                               int64_t channels);

// x + masks(conv(relu(spectral(x) + eyes(x)))): NAME.spectral.weight [64, c] are gates of tiles of
// 8x8 pixels as 1 + weight; NAME.eyes.weight is a depthwise 3x3 convolution; NAME.mix a 1x1 one
// with bias.
enum { ZN_NN_TILE = 8 };
typedef struct zn_nn_zenith_shape {
    bool shifted;   // the grid of tiles by half a tile
    bool threshold; // NAME.spectral.threshold [64, c]: soft thresholds of coefficients
    bool pruned;    // NAME.score [4, 4]: rectangles of the map with a negative score stay x
    int kept;    // lowest frequencies along each side of a tile; 0: all. Others' gates are not read
    float still; // where pruned: cells that change by less stay x (zn_still_mask); 0: none
} zn_nn_zenith_shape;
zn_node *zn_nn_zenith(const zn_scope *scope, const char *name, zn_node *x,
                      zn_nn_zenith_shape shape);

#endif
