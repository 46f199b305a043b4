// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What scan_rows and scan_columns have in common: shapes, the specification, work, and the gradient.
#ifndef ZN_OP_SCAN_RULES_H
#define ZN_OP_SCAN_RULES_H

#include "src/op/scan/scan_ops.h"

enum { ZN_SCAN_DECAY, ZN_SCAN_X, ZN_SCAN_INPUTS };

zenith_status zn_scan_infer(zn_node *node, zn_error *err);
double zn_scan_flops(const zn_node *node);

// The specification along rows (dimension 2 of maps) or columns (dimension 1).
void zn_scan_reference(const zn_node *node, int dimension, const zn_tensor *inputs,
                       zn_tensor *output);

// The gradient of a scan is a scan the other way, by the decay of the pixel that comes next.
zn_node *zn_scan_gradient(zn_graph *graph, const zn_node *node, int dimension, int input,
                          zn_node *dy);

#endif
