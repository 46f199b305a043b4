// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One value from the values at the same place.
#ifndef ZN_OP_POINTWISE_OPS_H
#define ZN_OP_POINTWISE_OPS_H

#include "src/graph/op.h"

typedef struct zn_soft_clip_attributes {
    float limit;
} zn_soft_clip_attributes;

typedef struct zn_affine_attributes {
    float factor, offset;
} zn_affine_attributes;

typedef struct zn_clamp_attributes {
    float low, high;
} zn_clamp_attributes;

typedef struct zn_convert_attributes {
    zn_type type;
    float scale;
} zn_convert_attributes;

typedef struct zn_gaussian_attributes {
    uint64_t seed; // of the noise, beside the number that each run sets
} zn_gaussian_attributes;

zn_node *zn_add(zn_graph *graph, const char *name, zn_node *a, zn_node *b); // equal shapes
zn_node *zn_relu(zn_graph *graph, const char *name, zn_node *x);
zn_node *zn_soft_clip(zn_graph *graph, const char *name, zn_node *x, float limit);
zn_node *zn_affine(zn_graph *graph, const char *name, zn_node *x, float factor, float offset);
zn_node *zn_clamp(zn_graph *graph, const char *name, zn_node *x, float low, float high);
zn_node *zn_scale(zn_graph *graph, const char *name, zn_node *x, zn_node *factor); // a scalar node
// mean + exp(logvar / 2) * noise, of equal shapes; number: a scalar node.
zn_node *zn_gaussian_sample(zn_graph *graph, const char *name, zn_node *mean, zn_node *logvar,
                            zn_node *number, uint64_t seed);
zn_node *zn_convert(zn_graph *graph, const char *name, zn_node *x, zn_type type, float scale);
// Under the name of x: `convert` of a zn_type_policy.
zn_node *zn_convert_as(zn_graph *graph, zn_node *x, zn_type type, float scale);
// As u8 or s8 of that scale would hold x, in x's own type.
zn_node *zn_fake_quant(zn_graph *graph, const char *name, zn_node *x, zn_type type, float scale);
zn_node *zn_relu_gradient(zn_graph *graph, const char *name, zn_node *dy, zn_node *y);

#endif
