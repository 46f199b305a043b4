// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the operators of tokens have in common: their shape and type rules, and activations as the
// kernels know them.
#ifndef ZN_OP_TOKEN_CHECKS_H
#define ZN_OP_TOKEN_CHECKS_H

#include "src/kernel/pointwise/activation.h"
#include "src/op/token/token_ops.h"

// Input `input` is a map or a vector.
zenith_status zn_check_tokens(const zn_node *node, int input, zn_error *err);

// Input `input` is a vector of the channels of the map that input 0 is, or of those of a row: each
// column has its own.
zenith_status zn_check_modulator(const zn_node *node, int input, zn_error *err);
bool zn_modulates_columns(const zn_node *node, int input);

// The result is like input 0: vectors and results of quantised maps are f32, other maps have their
// type.
void zn_infer_tokens(zn_node *node);

zenith_status zn_check_activation(const zn_node *node, zn_error *err);
zn_curve zn_curve_of_kind(zn_activation kind);
zn_curve zn_curve_of(const zn_node *node); // of an operator with zn_activation_attributes

// An exponential and a quotient for each value: about 16 operations.
enum { ZN_ACTIVATION_WORK = 16 };

// The channels of input 0's groups; 0: it does not divide so.
int64_t zn_group_width(const zn_node *node, int groups);

#endif
