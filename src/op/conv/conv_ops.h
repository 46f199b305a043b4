// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and their gradients.
#ifndef ZN_OP_CONV_OPS_H
#define ZN_OP_CONV_OPS_H

#include "src/graph/op.h"

// direct: each product is made and summed as it stands, rather than by a way with fewer products
// and other roundings (Winograd in f32, sums of weights under an upsampling). after: so many more
// columns and rows of zeros on the right and below than `pad`. frame: of a weight over time [out,
// in, frames, kh, kw], the slice [:, :, frame] is the weight: a convolution over time is a sum of
// convolutions of several maps.
typedef struct zn_conv2d_attributes {
    int stride, pad;
    bool direct;
    int after, frame;
} zn_conv2d_attributes;

// relu(x * weight + bias + residual), each of the last three if it is there. Inputs in this order:
// x, weight, bias if `bias`, residual if `residual`.
typedef struct zn_conv2d_fused_attributes {
    zn_conv2d_attributes conv;
    bool bias, residual, relu;
} zn_conv2d_fused_attributes;

// turned: the weights in the opposite order, which is the gradient.
typedef struct zn_depthwise_attributes {
    bool turned;
} zn_depthwise_attributes;

// turned: each group's matrix the other way around, which is the gradient.
typedef struct zn_grouped_conv_attributes {
    int groups;
    bool turned;
} zn_grouped_conv_attributes;

// Of both gradients of a convolution: its own numbers, and those that its result does not tell.
typedef struct zn_conv2d_backward_attributes {
    int stride, pad;
    bool direct;
    int64_t height, width; // of x
    int64_t kernel_h, kernel_w;
    int after;
} zn_conv2d_backward_attributes;

// relu_gradient(sum2(gradient of the convolution's input) + residual, mask), each of the three if
// it is there; sum2 if `halves`, and then without residual. Inputs in this order: dy, weight,
// residual, mask.
typedef struct zn_conv2d_backward_fused_attributes {
    zn_conv2d_backward_attributes conv;
    bool halves, residual, mask;
} zn_conv2d_backward_fused_attributes;

// x [n, h, w, in], weight [out, in, kh, kw], bias [out] or NULL -> [n, h', w', out], where
// h' = (h + 2 pad - kh) / stride + 1.
zn_node *zn_conv2d(zn_graph *graph, const char *name, zn_node *x, zn_node *weight, zn_node *bias,
                   int stride, int pad);
// A 3x3 convolution of each channel by itself, zero padded: weight [c, 1, 3, 3].
zn_node *zn_depthwise_conv(zn_graph *graph, const char *name, zn_node *x, zn_node *weight);
// A 1x1 convolution in groups of channels: weight [out, in / groups, 1, 1], bias [out] or NULL.
zn_node *zn_grouped_conv(zn_graph *graph, const char *name, zn_node *x, zn_node *weight,
                         zn_node *bias, int groups);

#endif
