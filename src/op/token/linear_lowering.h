// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the operators on kernel/linear/linear.h share.
#ifndef ZN_OP_LINEAR_LOWERING_H
#define ZN_OP_LINEAR_LOWERING_H

#include "src/graph/op.h"
#include "src/kernel/linear/linear.h"
#include "src/op/token/token_checks.h"

// The channels of a map or of a vector, and its tokens.
int64_t zn_token_channels(const zn_node *node);
int64_t zn_token_count(const zn_node *node);

// Whether linear multiplies in 8 bits: it says so, or its weights are bytes already and its tokens
// not f32.
bool zn_linear_in_bytes(const zn_node *node);

// A call is shared by `workers`, each of which takes one piece of the work after the other: blocks
// of outputs, and of tokens where there are fewer blocks than workers.
typedef struct zn_linear_team {
    int workers;
    size_t scratch; // bytes of each
} zn_linear_team;

// Bytes of scratch for calls of so many tokens: what is placed of one portion of them, and each
// worker's.
size_t zn_linear_team_bytes(const zn_linear_version *version, const zn_linear_size *size,
                            int64_t tokens, int workers, zn_linear_team *team);
// args as for zn_linear_multiply, without `placed`; tokens: all of the call. Stops early when the
// call is to stop.
void zn_linear_team_run(const zn_linear_team *team, const zn_linear_args *args,
                        const zn_call *call);

zenith_status zn_linear_lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err);

#endif
