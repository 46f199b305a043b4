// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The operators: the table, their attributes, and the builders that models use. A builder adds one
// node (zn_group_norm three) and returns it, or NULL after a failure; see graph.h.
#ifndef ZN_OP_OPS_H
#define ZN_OP_OPS_H

#include "src/graph/op.h"

#define ZN_OP(name) extern const zn_op zn_op_##name;
#include "src/op/ops.list"
#undef ZN_OP

extern const zn_op *const zn_ops[];
extern const int zn_ops_count;
const zn_op *zn_op_find(const char *name); // NULL: there is none

// direct: each product is made and summed as it stands, rather than by a way with fewer products and
// other roundings (Winograd in f32, sums of weights under an upsampling).
typedef struct zn_conv2d_attributes {
    int stride, pad;
    bool direct;
} zn_conv2d_attributes;

// relu(x * weight + bias + residual), each of the last three if it is there. Inputs in this order:
// x, weight, bias if `bias`, residual if `residual`.
typedef struct zn_conv2d_fused_attributes {
    int stride, pad;
    bool bias, residual, relu, direct;
} zn_conv2d_fused_attributes;

typedef struct zn_soft_clip_attributes {
    float limit;
} zn_soft_clip_attributes;

typedef struct zn_convert_attributes {
    zn_type type;
    float scale;
} zn_convert_attributes;

typedef struct zn_pixel_shuffle_attributes {
    int factor;
} zn_pixel_shuffle_attributes;

// turned: the weights in the opposite order, which is the gradient.
typedef struct zn_depthwise_attributes {
    bool turned;
} zn_depthwise_attributes;

// turned: each group's matrix the other way around, which is the gradient.
typedef struct zn_grouped_conv_attributes {
    int groups;
    bool turned;
} zn_grouped_conv_attributes;

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

// Windows of kernel x kernel pixels at every stride-th; kernel >= stride.
typedef struct zn_max_pool_attributes {
    int kernel, stride;
} zn_max_pool_attributes;
int64_t zn_max_pool_length(int64_t length, const zn_max_pool_attributes *a); // of a pooled side

typedef struct zn_channel_slice_attributes {
    int64_t first, count;
} zn_channel_slice_attributes;

// From (top, left) on; it may reach beyond the map.
typedef struct zn_window_attributes {
    int64_t top, left, height, width;
} zn_window_attributes;

typedef struct zn_unit_norm_attributes {
    float epsilon;
} zn_unit_norm_attributes;

typedef struct zn_row_moments_attributes {
    int groups;
} zn_row_moments_attributes;

typedef struct zn_group_stats_attributes {
    float epsilon;
    int64_t elements_per_row; // width * channels / groups of the map that the moments are of
} zn_group_stats_attributes;

// What a gradient of group_stats needs to know of the moments.
typedef struct zn_group_stats_gradient_attributes {
    int64_t rows, elements_per_row;
} zn_group_stats_gradient_attributes;

// Of both gradients of a convolution: its own numbers, and those that its result does not tell.
typedef struct zn_conv2d_backward_attributes {
    int stride, pad;
    bool direct;
    int64_t height, width; // of x
    int64_t kernel_h, kernel_w;
} zn_conv2d_backward_attributes;

// relu_gradient(sum2(gradient of the convolution's input) + residual, mask), each of the three if it is
// there; sum2 if `halves`, and then without residual. Inputs in this order: dy, weight, residual, mask.
typedef struct zn_conv2d_backward_fused_attributes {
    zn_conv2d_backward_attributes conv;
    bool halves, residual, mask;
} zn_conv2d_backward_fused_attributes;

typedef enum zn_walsh_axis { ZN_WALSH_ROW = 0, ZN_WALSH_COLUMN } zn_walsh_axis;

// Of the gradients with respect to a gate over lines.
typedef struct zn_walsh_gate_gradient_attributes {
    zn_walsh_axis axis;
} zn_walsh_gate_gradient_attributes;

// Tiles of size x size pixels (4, 8 or 16), on a grid that begins `shift` pixels (0 or size / 2) left
// of and above the map. kept: the frequencies along each side that are computed, those of the fewest
// changes of sign; the others are 0. plain: the gate is the factor itself, else 1 + gate is.
typedef struct zn_walsh_tile_attributes {
    int size, shift, kept;
    bool plain;
} zn_walsh_tile_attributes;

// x + masks(conv(relu(walsh_tile(x) + depthwise(x)))). Inputs in this order: x, gate, threshold if
// `threshold`, weight of the depthwise convolution, weight and bias of the 1x1 one, scores if `score`.
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

// A map of height x width pixels that was continued by mirroring, `before` rows and columns on its
// upper and left side and whatever there is on the other.
typedef struct zn_mirror_fold_attributes {
    int64_t before, height, width;
} zn_mirror_fold_attributes;

typedef enum zn_difference {
    ZN_DIFFERENCE_L1 = 0,     // mean of |a - b|
    ZN_DIFFERENCE_MSE,        // mean of (a - b)^2
    ZN_DIFFERENCE_CHARBONNIER // mean of sqrt((a - b)^2 + epsilon^2)
} zn_difference;

typedef struct zn_difference_attributes {
    zn_difference kind;
    float epsilon; // of ZN_DIFFERENCE_CHARBONNIER
} zn_difference_attributes;

typedef enum zn_hinge {
    ZN_HINGE_HIGH = 0, // mean of max(margin - x, 0): x should be high
    ZN_HINGE_LOW,      // mean of max(margin + x, 0): x should be low
    ZN_HINGE_NONE      // mean of -x: the higher, the better
} zn_hinge;

typedef struct zn_hinge_attributes {
    zn_hinge kind;
    float margin;
} zn_hinge_attributes;

enum { ZN_SCALAR_SUM_INPUTS = 4 };
typedef struct zn_scalar_sum_attributes {
    float weights[ZN_SCALAR_SUM_INPUTS];
} zn_scalar_sum_attributes;

// x [n, h, w, in], weight [out, in, kh, kw], bias [out] or NULL -> [n, h', w', out], where
// h' = (h + 2 pad - kh) / stride + 1.
zn_node *zn_conv2d(zn_graph *graph, const char *name, zn_node *x, zn_node *weight, zn_node *bias,
                   int stride, int pad);
zn_node *zn_add(zn_graph *graph, const char *name, zn_node *a, zn_node *b); // equal shapes
zn_node *zn_relu(zn_graph *graph, const char *name, zn_node *x);
zn_node *zn_soft_clip(zn_graph *graph, const char *name, zn_node *x, float limit);
zn_node *zn_scale(zn_graph *graph, const char *name, zn_node *x, zn_node *factor); // a scalar node
zn_node *zn_upsample2(zn_graph *graph, const char *name, zn_node *x);
zn_node *zn_pixel_shuffle(zn_graph *graph, const char *name, zn_node *x, int factor);
zn_node *zn_pixel_unshuffle(zn_graph *graph, const char *name, zn_node *x, int factor);
// A 3x3 convolution of each channel by itself, zero padded: weight [c, 1, 3, 3].
zn_node *zn_depthwise_conv(zn_graph *graph, const char *name, zn_node *x, zn_node *weight);
// A 1x1 convolution in groups of channels: weight [out, in / groups, 1, 1], bias [out] or NULL.
zn_node *zn_grouped_conv(zn_graph *graph, const char *name, zn_node *x, zn_node *weight,
                         zn_node *bias, int groups);
// `size` channels, those of x and zeros, in a fixed other order, each times scale [size].
zn_node *zn_permute_scale(zn_graph *graph, const char *name, zn_node *x, zn_node *scale,
                          int64_t size);
// Zero where the score [rows, columns] of a pixel's rectangle is negative.
zn_node *zn_tile_mask(zn_graph *graph, const char *name, zn_node *x, zn_node *scores);
// y, but zero where x is still.
zn_node *zn_still_mask(zn_graph *graph, const char *name, zn_node *y, zn_node *x,
                       zn_still_mask_attributes attributes);
zn_node *zn_max_pool(zn_graph *graph, const char *name, zn_node *x, int kernel, int stride);
zn_node *zn_concat(zn_graph *graph, const char *name, zn_node *const *inputs, int count); // 1 .. 4
zn_node *zn_unit_norm(zn_graph *graph, const char *name, zn_node *x, float epsilon);
zn_node *zn_max_pool_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *x,
                              int kernel, int stride);
zn_node *zn_channel_slice(zn_graph *graph, const char *name, zn_node *x, int64_t first,
                          int64_t count);
// x as the channels from `first` on of `count`, the others zero.
zn_node *zn_channel_pad(zn_graph *graph, const char *name, zn_node *x, int64_t first,
                        int64_t count);
zn_node *zn_window(zn_graph *graph, const char *name, zn_node *x, zn_window_attributes attributes);
zn_node *zn_unit_norm_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *x,
                               float epsilon);
zn_node *zn_convert(zn_graph *graph, const char *name, zn_node *x, zn_type type, float scale);
// gamma and beta [c]. The moments and statistics on the way are nodes "name.moments", "name.stats".
zn_node *zn_group_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gamma, zn_node *beta,
                       int groups, float epsilon);

// --- Walsh-Hadamard transforms ------------------------------------------------------------------
//
// W is orthonormal, so that W W = 1; frequencies are in natural (Hadamard) order. Lengths are powers
// of two. Maps are f32 or bf16, arithmetic is f32.

// y = W (gate . (W x)) along one axis, each channel by itself. gate [N, c], N the map's width
// (ZN_WALSH_ROW) or height (ZN_WALSH_COLUMN).
zn_node *zn_walsh_gate(zn_graph *graph, const char *name, zn_node *x, zn_node *gate,
                       zn_walsh_axis axis);
// y = W x over the channels of each pixel: its own inverse and gradient.
zn_node *zn_walsh_channels(zn_graph *graph, const char *name, zn_node *x);
// y = W soft((1 + gate) . (W x), threshold) on tiles, W over both their sides, where
// soft(v, t) = sign(v) max(|v| - |t|, 0). Beyond its border the map is mirrored by half samples. gate
// and threshold [size * size, c], by frequency along y, then x; threshold may be NULL: none.
zn_node *zn_walsh_tile(zn_graph *graph, const char *name, zn_node *x, zn_node *gate,
                       zn_node *threshold, zn_walsh_tile_attributes attributes);

// --- losses -------------------------------------------------------------------------------------

// One number [1], f32, whatever the types of a and b, which have one shape.
zn_node *zn_difference_loss(zn_graph *graph, const char *name, zn_node *a, zn_node *b,
                            zn_difference_attributes how);
// One number [1], f32, of a map of scores.
zn_node *zn_hinge_loss(zn_graph *graph, const char *name, zn_node *x, zn_hinge_attributes how);
// sum of weights[i] * numbers[i], each [1].
zn_node *zn_scalar_sum(zn_graph *graph, const char *name, zn_node *const *numbers,
                       const float *weights, int count);

// --- what gradients are made of -----------------------------------------------------------------

// The attributes of the gradients of a conv2d node.
zn_conv2d_backward_attributes zn_conv2d_backward_of(const zn_node *conv);

// conv: the conv2d whose gradient it is. The gradient of a weight is f32 [out, in * kh * kw].
zn_node *zn_conv2d_backward_data(zn_graph *graph, const char *name, zn_node *dy, zn_node *weight,
                                 const zn_node *conv);
zn_node *zn_conv2d_backward_weights(zn_graph *graph, const char *name, zn_node *x, zn_node *dy,
                                    const zn_node *conv);
// Of a 3x3 convolution, stride 1 and padding 1, that read upsample2 of x.
zn_node *zn_upsample2_conv_backward_weights(zn_graph *graph, const char *name, zn_node *x,
                                            zn_node *dy);
zn_node *zn_depthwise_backward_weights(zn_graph *graph, const char *name, zn_node *x, zn_node *dy);
zn_node *zn_grouped_backward_weights(zn_graph *graph, const char *name, zn_node *x, zn_node *dy,
                                     int groups);
zn_node *zn_channel_product_sum(zn_graph *graph, const char *name, zn_node *a, zn_node *b); // [c]
zn_node *zn_tile_sums(zn_graph *graph, const char *name, zn_node *a, zn_node *b, int64_t rows,
                      int64_t columns);
zn_node *zn_channel_sum(zn_graph *graph, const char *name, zn_node *x); // f32 [c]
zn_node *zn_relu_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *y);
zn_node *zn_soft_clip_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *x,
                               float limit);
zn_node *zn_sum2(zn_graph *graph, const char *name, zn_node *x);
zn_node *zn_walsh_gate_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *x,
                                zn_walsh_axis axis); // f32 [N, c]
zn_node *zn_mirror_fold(zn_graph *graph, const char *name, zn_node *x,
                        zn_mirror_fold_attributes attributes);
zn_node *zn_difference_loss_gradient(zn_graph *graph, const char *name, zn_node *a, zn_node *b,
                                     zn_node *dloss, const zn_difference_attributes *how);
zn_node *zn_hinge_loss_gradient(zn_graph *graph, const char *name, zn_node *x, zn_node *dloss,
                                const zn_hinge_attributes *how);

#endif
