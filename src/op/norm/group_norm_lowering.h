// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The lowering of group_norm and group_norm_fused, whose inputs are x, the statistics, gamma and
// beta.
#ifndef ZN_OP_GROUP_NORM_LOWERING_H
#define ZN_OP_GROUP_NORM_LOWERING_H

#include "src/graph/op.h"

enum { ZN_GROUP_NORM_X, ZN_GROUP_NORM_STATS, ZN_GROUP_NORM_GAMMA, ZN_GROUP_NORM_BETA };
enum { ZN_GROUP_NORM_INPUTS = 4, ZN_NO_CURVE = -1 };

zenith_status zn_group_norm_infer(zn_node *node, zn_error *err);

// curve: a zn_curve that the result goes through, or ZN_NO_CURVE.
zenith_status zn_group_norm_lower(const zn_lowering_request *request, int curve, zn_lowering **out,
                                  zn_error *err);

#endif
