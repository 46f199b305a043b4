// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Norms, as the steps they are made of.
#ifndef ZN_OP_NORM_OPS_H
#define ZN_OP_NORM_OPS_H

#include "src/graph/op.h"

typedef struct zn_unit_norm_attributes {
    float epsilon;
} zn_unit_norm_attributes;

// mean and deviation: [channels], longer-lived than any graph.
typedef struct zn_standardise_attributes {
    const float *mean, *deviation;
    int64_t channels;
    bool back;
} zn_standardise_attributes;

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

zn_node *zn_unit_norm(zn_graph *graph, const char *name, zn_node *x, float epsilon);
// (x - mean) / deviation for each channel; back: x * deviation + mean.
zn_node *zn_standardise(zn_graph *graph, const char *name, zn_node *x,
                        zn_standardise_attributes attributes);
// gamma and beta [c]: parameters, or vectors that differ from run to run. The moments and
// statistics on the way are nodes "name.moments", "name.stats".
zn_node *zn_group_norm(zn_graph *graph, const char *name, zn_node *x, zn_node *gamma, zn_node *beta,
                       int groups, float epsilon);

#endif
