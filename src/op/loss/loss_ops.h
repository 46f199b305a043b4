// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One number that says how far a result is from what it should be.
#ifndef ZN_OP_LOSS_OPS_H
#define ZN_OP_LOSS_OPS_H

#include "src/graph/op.h"

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

// Of which input of kl_loss a gradient is.
typedef enum zn_moment { ZN_MOMENT_MEAN = 0, ZN_MOMENT_LOGVAR } zn_moment;

typedef struct zn_moment_attributes {
    zn_moment which;
} zn_moment_attributes;

typedef struct zn_logistic_attributes {
    bool of_labels; // the gradient is that of the labels, not of the scores
} zn_logistic_attributes;

enum { ZN_SCALAR_SUM_INPUTS = 4 };

typedef struct zn_scalar_sum_attributes {
    float weights[ZN_SCALAR_SUM_INPUTS];
} zn_scalar_sum_attributes;

// One number [1], f32, whatever the types of a and b, which have one shape.
zn_node *zn_difference_loss(zn_graph *graph, const char *name, zn_node *a, zn_node *b,
                            zn_difference_attributes how);
// One number [1], f32, of a map of scores.
zn_node *zn_hinge_loss(zn_graph *graph, const char *name, zn_node *x, zn_hinge_attributes how);
// One number [1], f32, of two maps of one shape.
zn_node *zn_kl_loss(zn_graph *graph, const char *name, zn_node *mean, zn_node *logvar);
// One number [1], f32, of scores and labels (1: yes, 0: no) of one shape.
zn_node *zn_logistic_loss(zn_graph *graph, const char *name, zn_node *scores, zn_node *labels);
// sum of weights[i] * numbers[i], each [1].
zn_node *zn_scalar_sum(zn_graph *graph, const char *name, zn_node *const *numbers,
                       const float *weights, int count);

#endif
