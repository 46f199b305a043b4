// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What rms_norm, layer_norm and their gradients share.
#ifndef ZN_OP_TOKEN_NORM_OP_H
#define ZN_OP_TOKEN_NORM_OP_H

#include "src/kernel/norm/token_norm.h"
#include "src/op/token/token_ops.h"

// The attributes of these nodes: the builder's, and which inputs are there. Inputs are x, then the
// gain and the bias that there are; of gradients dy and x come first.
typedef struct zn_token_norm_parts {
    int groups;
    float epsilon;
    bool centred, gain, bias;
} zn_token_norm_parts;

zenith_status zn_token_norm_infer(zn_node *node, zn_error *err);
void zn_token_norm_pixels(const zn_pixels *pixels);

// The kernel's description of a group, without gain and bias.
zn_token_norm zn_token_norm_of(const zn_node *node);
// Of the values of x from `first` on, by plain sums: for references.
zn_token_stats zn_token_norm_plain(const zn_token_norm *norm, const zn_tensor *x, size_t first);
// Input 0 is a map whose channels divide into the groups.
zenith_status zn_check_token_groups(const zn_node *node, zn_error *err);

#endif
