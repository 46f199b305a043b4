// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Values in another place: enlarged, cut, joined, padded, put together with those of others.
#ifndef ZN_OP_SHAPE_OPS_H
#define ZN_OP_SHAPE_OPS_H

#include "src/base/share.h"
#include "src/graph/op.h"

// columns: the channels of a square go down its columns, not along its rows. whole: all channels of
// a square's first pixel, then all of its second, and so on along its rows; else the first channel
// of all its pixels comes first. tall: a pixel becomes a column of so many whole pixels, not a
// square.
typedef struct zn_pixel_shuffle_attributes {
    int factor;
    bool columns, whole, tall;
} zn_pixel_shuffle_attributes;

typedef struct zn_interleave_attributes {
    int zeros; // maps of zeros before the first
} zn_interleave_attributes;

typedef struct zn_channel_slice_attributes {
    int64_t first, count;
} zn_channel_slice_attributes;

// From (top, left) on; it may reach beyond the map.
typedef struct zn_window_attributes {
    int64_t top, left, height, width;
} zn_window_attributes;

// A map of height x width pixels that was continued by mirroring, `before` rows and columns on its
// upper and left side and whatever there is on the other.
typedef struct zn_mirror_fold_attributes {
    int64_t before, height, width;
} zn_mirror_fold_attributes;

typedef struct zn_sum_shares_attributes {
    const zn_share *share; // outlives the node
} zn_sum_shares_attributes;

zn_node *zn_upsample2(zn_graph *graph, const char *name, zn_node *x);
zn_node *zn_pixel_shuffle(zn_graph *graph, const char *name, zn_node *x, int factor);
zn_node *zn_pixel_unshuffle(zn_graph *graph, const char *name, zn_node *x, int factor);
zn_node *zn_concat(zn_graph *graph, const char *name, zn_node *const *inputs, int count); // 1 .. 4
// 1 .. 4 maps of one shape, their channels in turn after those of `zeros` maps of zeros.
zn_node *zn_interleave(zn_graph *graph, const char *name, zn_node *const *inputs, int count,
                       int zeros);
zn_node *zn_channel_slice(zn_graph *graph, const char *name, zn_node *x, int64_t first,
                          int64_t count);
// x as the channels from `first` on of `count`, the others zero.
zn_node *zn_channel_pad(zn_graph *graph, const char *name, zn_node *x, int64_t first,
                        int64_t count);
zn_node *zn_window(zn_graph *graph, const char *name, zn_node *x, zn_window_attributes attributes);
zn_node *zn_sum2(zn_graph *graph, const char *name, zn_node *x);
zn_node *zn_sum_shares(zn_graph *graph, const char *name, zn_node *x, const zn_share *share);

#endif
