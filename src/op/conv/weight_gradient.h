// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel conv_weight_gradient on two inputs of an operator, of any types: where both are of one
// that the kernel takes, it reads them as they lie; else some rows at a time are widened to f32.
// Threads share the weights.
#ifndef ZN_OP_WEIGHT_GRADIENT_H
#define ZN_OP_WEIGHT_GRADIENT_H

#include "src/graph/op.h"
#include "src/kernel/conv/conv_weight_gradient.h"
#include "src/kernel/pointwise/convert.h"
#include "src/op/convert_parallel.h"

typedef struct zn_weight_gradient {
    zn_conv_weight_gradient_fn *kernel;
    zn_conv_weight_gradient_args args; // but for the addresses
    int src, dy;                       // numbers of inputs
    int64_t rows;                      // of dy
    int64_t step;                      // rows of dy per call of the kernel
    bool widens;
    zn_conversion widen_src, widen_dy;
    size_t src_row, dy_row; // elements
    size_t part_bytes;      // of scratch for a thread's call; these are at 0
    size_t src_at, dy_at;   // of widened rows in the scratch
    size_t scratch_bytes;
} zn_weight_gradient;

// shape: kernel_h, kernel_w, stride and pad_left. src comes with its rows of vertical padding.
zenith_status zn_weight_gradient_prepare(const zn_lowering_request *request, int src, int dy,
                                         const zn_conv_weight_gradient_args *shape,
                                         zn_weight_gradient *out, zn_error *err);
// scratch: scratch_bytes, aligned to ZN_ALIGN.
void zn_weight_gradient_run(const zn_weight_gradient *gradient, const zn_call *call, float *dw,
                            uint8_t *scratch);

#endif
