// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the file of an operator includes, and how it lists its samples.
#ifndef ZN_OP_OPERATOR_H
#define ZN_OP_OPERATOR_H

#include "src/base/memory.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/ops.h"
#include "src/op/row_lowering.h"

// A node of two inputs, as most gradients are.
static inline zn_node *zn_graph_pair(zn_graph *graph, const zn_op *op, const char *name, zn_node *a,
                                     zn_node *b, const void *attributes)
{
    return zn_graph_add(graph, op, name, (zn_node *[]){a, b}, 2, attributes);
}

// Shapes of inputs: a map, a vector. Any other is written out: {rank, {dimensions}}.
// clang-format off
#define ZN_MAP(h, w, c) {4, {1, h, w, c}}
#define ZN_VECTOR(n)    {1, {n}}

// how: attributes, or NULL. which: a bit for each input that is a parameter. Then the shapes of the
// inputs.
#define ZN_SAMPLE_FIELDS(label, how, which, ...)                                                   \
    .name = label, .attributes = how, .parameters = which, .inputs = {__VA_ARGS__},                \
    .inputs_count = sizeof (zn_shape[]){__VA_ARGS__} / sizeof(zn_shape)
#define ZN_SAMPLE(...)                  {ZN_SAMPLE_FIELDS(__VA_ARGS__)}
#define ZN_SAMPLE_WITHOUT_GRADIENT(...) {ZN_SAMPLE_FIELDS(__VA_ARGS__), .no_gradient = true}

#define ZN_SAMPLES(...)  ZN_LIST(zn_op_sample, __VA_ARGS__)
#define ZN_PATTERNS(...) ZN_LIST(zn_pattern, __VA_ARGS__) // each in braces
#define ZN_LIST(type, ...)                                                                         \
    {(const type[]){__VA_ARGS__}, sizeof (type[]){__VA_ARGS__} / sizeof(type)}
// clang-format on

#endif
