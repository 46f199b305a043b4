// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The operators: the table, and by folder their attributes and the builders that models use. A
// builder adds one node (zn_group_norm three) and returns it, or NULL after a failure; see graph.h.
#ifndef ZN_OP_OPS_H
#define ZN_OP_OPS_H

#include "src/op/conv/conv_ops.h"
#include "src/op/loss/loss_ops.h"
#include "src/op/norm/norm_ops.h"
#include "src/op/pointwise/pointwise_ops.h"
#include "src/op/reduce/reduce_ops.h"
#include "src/op/scan/scan_ops.h"
#include "src/op/shape/shape_ops.h"
#include "src/op/spectral/spectral_ops.h"
#include "src/op/token/token_ops.h"

#define ZN_OP(name) extern const zn_op zn_op_##name;
#include "src/op/ops.list"
#undef ZN_OP

extern const zn_op *const zn_ops[];
extern const int zn_ops_count;
const zn_op *zn_op_find(const char *name); // NULL: there is none

#endif
