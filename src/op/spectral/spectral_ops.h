// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Walsh-Hadamard transforms, their gates and masks, and the blocks made of them.
//
// W is orthonormal, so that W W = 1; frequencies are in natural (Hadamard) order. Lengths are
// powers of two. Maps are f32 or bf16, arithmetic is f32.
#ifndef ZN_OP_SPECTRAL_OPS_H
#define ZN_OP_SPECTRAL_OPS_H

#include "src/graph/op.h"

// size: channels that are permuted, a power of two; channels: of the result. back: the way back.
typedef struct zn_permute_scale_attributes {
    int64_t size, channels;
    bool back;
} zn_permute_scale_attributes;

// Cells of rows x columns rectangles (still_mask.h) are still where no channel changes by `below`.
typedef struct zn_still_mask_attributes {
    int64_t rows, columns;
    float below;
} zn_still_mask_attributes;

typedef struct zn_tile_sums_attributes {
    int64_t rows, columns; // of rectangles
} zn_tile_sums_attributes;

typedef enum zn_walsh_axis { ZN_WALSH_ROW = 0, ZN_WALSH_COLUMN } zn_walsh_axis;

// Of the gradients with respect to a gate over lines.
typedef struct zn_walsh_gate_gradient_attributes {
    zn_walsh_axis axis;
} zn_walsh_gate_gradient_attributes;

// Tiles of size x size pixels (4, 8 or 16), on a grid that begins `shift` pixels (0 or size / 2)
// left of and above the map. kept: the frequencies along each side that are computed, those of the
// fewest changes of sign; the others are 0. plain: the gate is the factor itself, else 1 + gate is.
typedef struct zn_walsh_tile_attributes {
    int size, shift, kept;
    bool plain;
} zn_walsh_tile_attributes;

// x + masks(conv(relu(walsh_tile(x) + depthwise(x)))). Inputs in this order: x, gate, threshold if
// `threshold`, weight of the depthwise convolution, weight and bias of the 1x1 one, scores if
// `score`.
typedef struct zn_zenith_block_attributes {
    zn_walsh_tile_attributes tile;
    bool threshold, score;
    float still; // of still_mask behind the scores; 0: none
} zn_zenith_block_attributes;

typedef enum zn_walsh_tile_parameter {
    ZN_WALSH_TILE_GATE = 0,
    ZN_WALSH_TILE_THRESHOLD
} zn_walsh_tile_parameter;

typedef struct zn_walsh_tile_sums_attributes {
    zn_walsh_tile_attributes tile;
    zn_walsh_tile_parameter of;
} zn_walsh_tile_sums_attributes;

// `size` channels, those of x and zeros, in a fixed other order, each times scale [size].
zn_node *zn_permute_scale(zn_graph *graph, const char *name, zn_node *x, zn_node *scale,
                          int64_t size);
// Zero where the score [rows, columns] of a pixel's rectangle is negative.
zn_node *zn_tile_mask(zn_graph *graph, const char *name, zn_node *x, zn_node *scores);
// y, but zero where x is still.
zn_node *zn_still_mask(zn_graph *graph, const char *name, zn_node *y, zn_node *x,
                       zn_still_mask_attributes attributes);
// y = W (gate . (W x)) along one axis, each channel by itself. gate [N, c], N the map's width
// (ZN_WALSH_ROW) or height (ZN_WALSH_COLUMN).
zn_node *zn_walsh_gate(zn_graph *graph, const char *name, zn_node *x, zn_node *gate,
                       zn_walsh_axis axis);
// y = W x over the channels of each pixel: its own inverse and gradient.
zn_node *zn_walsh_channels(zn_graph *graph, const char *name, zn_node *x);
// y = W soft((1 + gate) . (W x), threshold) on tiles, W over both their sides, where soft(v, t) =
// sign(v) max(|v| - |t|, 0). Beyond its border the map is mirrored by half samples. gate and
// threshold [size * size, c], by frequency along y, then x; threshold may be NULL: none.
zn_node *zn_walsh_tile(zn_graph *graph, const char *name, zn_node *x, zn_node *gate,
                       zn_node *threshold, zn_walsh_tile_attributes attributes);

#endif
