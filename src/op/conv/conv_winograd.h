// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of conv_lowering.c that computes by kernel/winograd: when, with which weights and
// scratch, and how a call is spread over threads.
#ifndef ZN_OP_CONV_WINOGRAD_H
#define ZN_OP_CONV_WINOGRAD_H

#include "src/kernel/conv/winograd.h"
#include "src/op/conv/conv_lowering.h"

typedef struct zn_conv_winograd {
    zn_winograd_fn *run; // NULL: not used
    zn_winograd_args args;
    zn_area most;             // rows and columns of an area
    size_t parts, part_bytes; // scratch: one part a thread
} zn_conv_winograd;

// 3x3, stride 1, padding 1, channels in multiples of 16, on vectors that fuse (or where there is no
// oneDNN, whose direct convolution is faster than the scalar version).
bool zn_conv_winograd_fits(const zn_lowering_request *request, const zn_conv_parts *parts);
zenith_status zn_conv_winograd_make(const zn_lowering_request *request, const zn_conv_parts *parts,
                                    int levels, const float *bias, zn_conv_winograd *out,
                                    zn_error *err);
size_t zn_conv_winograd_scratch(const zn_conv_winograd *self);
// rows: at most those of the request. residual: NULL for none; may be dst.
void zn_conv_winograd_run(const zn_conv_winograd *self, zn_team *team, int64_t rows,
                          const float *src, const float *residual, float *dst, void *scratch);

#endif
