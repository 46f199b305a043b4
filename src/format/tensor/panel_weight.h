// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights into panels (tensor/panels.h), a row at a time: memory is that of one row, whatever the
// matrix.
//
//   8 bits   scale = the row's largest / 127, numbers rounded to nearest
//   4 bits   for a few scales of the row the steps m of all groups of 64 are searched, near those
//            that hold the groups' largest, by squared error; the scale with the least sum wins.
//            The scale is then the one that fits these numbers best, and numbers are rounded again
//            with it.
//
// Rows may be rotated before (convrot.h). Each row's numbers depend on that row alone, and sums are
// made in one order, so the same weights give the same bytes.
#ifndef ZN_FORMAT_TENSOR_PANEL_WEIGHT_H
#define ZN_FORMAT_TENSOR_PANEL_WEIGHT_H

#include "src/tensor/panels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Inputs that are rotated together, and the most that a row may have: the sum of its bytes is 32
// bits.
enum { ZN_PANEL_ROTATION = 256, ZN_PANEL_MOST_INPUTS = 1 << 24 };

typedef struct zn_panel_kind {
    int64_t inputs, padded_inputs;
    int bits;          // 8 or 4
    size_t rotated_by; // divides the inputs; 0: none
} zn_panel_kind;

// Where one panel goes.
typedef struct zn_panel_target {
    uint8_t *numbers;
    uint8_t *steps; // 4 bits only
    float *scales;
    int32_t *sums;
} zn_panel_target;

// What rounding cost: sums of squares of the differences, and of the weights.
typedef struct zn_panel_error {
    double squared, whole;
} zn_panel_error;

// Zero weights in all 32 outputs.
void zn_panel_clear(const zn_panel_kind *kind, const zn_panel_target *dst);

// A row as output `place` of a cleared panel. `row` has padded_inputs floats, of which the first
// `inputs` are the weights; it is overwritten. `bytes` is room for padded_inputs of them. Adds to
// *error. False for a number that is not finite or beyond 1e18: the panel is then as it was.
bool zn_panel_pack(const zn_panel_kind *kind, int place, float *row, int8_t *bytes,
                   const zn_panel_target *dst, zn_panel_error *error);

#endif
