// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What shape rules of operators have in common: checks that leave a sentence with the shapes, and
// the usual type rule.
#ifndef ZN_OP_OP_CHECKS_H
#define ZN_OP_OP_CHECKS_H

#include "src/graph/op.h"

#define ZN_BIT(type)   (1u << (type))
#define ZN_FLOAT_TYPES (ZN_BIT(ZN_F32) | ZN_BIT(ZN_BF16) | ZN_BIT(ZN_F16))
// Of operators whose kernels know no f16: a plan refuses them there.
#define ZN_WIDE_FLOAT_TYPES (ZN_BIT(ZN_F32) | ZN_BIT(ZN_BF16))
#define ZN_MAP_TYPES        (ZN_FLOAT_TYPES | ZN_BIT(ZN_U8) | ZN_BIT(ZN_S8))

static inline bool zn_is_quantised(zn_type type)
{
    return type == ZN_U8 || type == ZN_S8;
}

zenith_status zn_check_inputs(const zn_node *node, int least, int most, zn_error *err);
// One picture: rank 4, n == 1, no dimension below 1.
zenith_status zn_check_map(const zn_node *node, int input, zn_error *err);
// Input `input` is f32 or bf16; else ZENITH_UNSUPPORTED. Or that without a scale.
zenith_status zn_check_wide_floats(const zn_node *node, int input, zn_error *err);
zenith_status zn_check_unscaled(const zn_node *node, int input, zn_error *err);
zenith_status zn_check_same_shape(const zn_node *node, int a, int b, zn_error *err);
// Input `input` is [length].
zenith_status zn_check_vector(const zn_node *node, int input, int64_t length, zn_error *err);

// The result of a pointwise operator: shape, type and quantisation of input 0. A floating result
// has no scale, whatever its input has.
void zn_infer_like_input(zn_node *node);
zenith_status zn_infer_one_map(zn_node *node, zn_error *err); // one map in, one like it out

zenith_status zn_infer_two_maps(zn_node *node, zn_error *err); // two maps of one shape

// Input `input` is [n, groups, 2]: the statistics (mean, rstd) of input 0's groups of channels.
zenith_status zn_check_stats(const zn_node *node, int input, zn_error *err);
// The number of the group, among all of that input, of one of input 0's channels.
size_t zn_group_of(const zn_node *node, int input, int64_t image, int64_t channel);

// Why the gradient of an operator that is a gradient itself is not there.
#define ZN_SECOND_GRADIENT "second derivatives are not built"

// `rings` of operators that take each row by itself: whatever the request.
bool zn_always_rings(const zn_lowering_request *request);

#endif
