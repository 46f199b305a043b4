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

// Windows of kernel x kernel pixels at every stride-th; kernel >= stride.
typedef struct zn_max_pool_attributes {
    int kernel, stride;
} zn_max_pool_attributes;

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
zn_node *zn_max_pool(zn_graph *graph, const char *name, zn_node *x, int kernel, int stride);
zn_node *zn_concat(zn_graph *graph, const char *name, zn_node *const *inputs, int count); // 1 .. 4
zn_node *zn_unit_norm(zn_graph *graph, const char *name, zn_node *x, float epsilon);
zn_node *zn_convert(zn_graph *graph, const char *name, zn_node *x, zn_type type, float scale);
// gamma and beta [c]. The moments and statistics on the way are nodes "name.moments", "name.stats".
zn_node *zn_group_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gamma, zn_node *beta,
                       int groups, float epsilon);

#endif
