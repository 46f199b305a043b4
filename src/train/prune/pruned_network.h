// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Networks made from others by leaving out: whole blocks, or channels inside residual blocks. What
// comes out is a smaller network like any other, not a masked one.
//
//     x ─ conv.0 ─ relu ─ conv.2 ─ relu ─ conv.4 ─ + ─ relu     channel c of conv.0 is row c of its
//     │            \_ inner layers _/              │            weights and bias, and column c of
//     └────────────────────────────────────────────┘            conv.2's weights
#ifndef ZN_TRAIN_PRUNE_PRUNED_NETWORK_H
#define ZN_TRAIN_PRUNE_PRUNED_NETWORK_H

#include "src/train/network/network.h"

// A layer inside a residual block, whose channels no other layer sees but the next.
typedef struct zn_inner_layer {
    char name[ZN_NAME_SIZE]; // "decoder.3.conv.0"
    char next[ZN_NAME_SIZE]; // "decoder.3.conv.2"
    const zn_train_parameter *weight, *bias, *outgoing;
    int64_t width;
    double cost;    // operations of one channel, in it and in the next layer
    double *scores; // [width]: what a channel is worth
    bool *keep;     // [width]: all at first
} zn_inner_layer;

typedef struct zn_inner_layers {
    zn_arena arena;
    zn_inner_layer *layers;
    size_t count;
} zn_inner_layers;

// The inner layers of a network whose values are f32 (zn_network_move); it must outlive them.
zenith_status zn_inner_layers_find(const zn_network *network, zn_inner_layers *out, zn_error *err);
void zn_inner_layers_free(zn_inner_layers *layers); // a zeroed one is fine

// Whether the network can do without the block of this number; then, the network without it. Its
// parameters lie where the other's do.
bool zn_network_has_block(const zn_network *network, int block);
zenith_status zn_network_without_block(const zn_network *network, int block, zn_network *out,
                                       zn_error *err);

// The network with the channels that are kept, in a flat block of its own (zn_free).
zenith_status zn_network_narrow(const zn_network *network, const zn_inner_layers *layers,
                                zn_network *out, float **block, zn_error *err);

// Operations of the network for a picture of 512x512.
zenith_status zn_network_operations(const zn_network *network, double *out, zn_error *err);

#endif
