// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Selective scans: a state that walks along the pixels of a row or of a column,
//
//     state = decay * state + x          at each pixel and channel; the result is the state
//
// in time that grows with the pixels. decay and x are maps, made by the network from what it sees,
// so that it chooses at each pixel what the state forgets and takes. The state begins as zero and
// is f32, whatever the type of maps.
#ifndef ZN_OP_SCAN_OPS_H
#define ZN_OP_SCAN_OPS_H

#include "src/graph/op.h"

// back: from the last pixel of a row (or of a column) to the first.
typedef struct zn_scan_attributes {
    bool back;
} zn_scan_attributes;

zn_node *zn_scan_rows(zn_graph *graph, const char *name, zn_node *decay, zn_node *x, bool back);
zn_node *zn_scan_columns(zn_graph *graph, const char *name, zn_node *decay, zn_node *x, bool back);

#endif
