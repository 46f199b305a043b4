// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What conv2d and conv2d_fused share: shape rule, row rule, cost, and code.
//
// A convolution computes in the type of its input: by our own kernels where they are the faster
// (conv_dot_lowering.c, conv_winograd.h), else on oneDNN where it has that type on this CPU. Where
// it has not (f16, or bf16 without AMX) the input rows are widened to f32 first. A result type that
// the convolution cannot make is made from its f32 result.
#ifndef ZN_OP_CONV_LOWERING_H
#define ZN_OP_CONV_LOWERING_H

#include "src/graph/op.h"
#include "src/kernel/conv/conv_dot.h"
#include "src/op/conv/conv_weights.h"

// A convolution node taken apart. Input 0 is x. The node's width is what the convolution makes, so
// the padding on the right follows.
typedef struct zn_conv_parts {
    const zn_node *node;
    zn_conv_weight weight;          // input 1, or made from it
    const zn_node *bias, *residual; // NULL: none
    int residual_input;
    const zn_node *mask; // zeros where it is not positive; by conv_dot alone. NULL: none
    int mask_input;
    int stride, pad; // pad: on the left; rows come with theirs
    bool relu;
    bool direct; // see zn_conv2d_attributes
} zn_conv_parts;

// [n, h', w', out], in the type of x; f32 for a quantised x. after: see zn_conv2d_attributes.
zenith_status zn_conv_infer(zn_node *node, int stride, int pad, int after, zn_error *err);
// The weight has this frame; 0 of one without frames.
zenith_status zn_conv_check_frame(const zn_node *node, int frame, zn_error *err);
zn_rows zn_conv_rows(const zn_node *node, int stride, int pad, zn_rows out);
double zn_conv_flops(const zn_node *node);
zenith_status zn_conv_lower(const zn_lowering_request *request, const zn_conv_parts *parts,
                            zn_lowering **out, zn_error *err);

// The same by the kernel conv_dot, where it has a version for this CPU, these types and channels.
bool zn_conv_dot_fits(const zn_cpu *cpu, const zn_conv_parts *parts);
zenith_status zn_conv_dot_lower(const zn_lowering_request *request, const zn_conv_parts *parts,
                                zn_lowering **out, zn_error *err);

// A call of conv_dot, ready but for src, residual, mask and dst.
typedef struct zn_conv_dot {
    zn_conv_dot_fn *run;
    zn_conv_dot_args args;
    float *vectors; // scale and bias
} zn_conv_dot;

zenith_status zn_conv_dot_prepare(const zn_lowering_request *request, const zn_conv_parts *parts,
                                  zn_conv_dot *out, zn_error *err);
void zn_conv_dot_free(zn_conv_dot *dot); // a zeroed one is fine

// How a call is shared by threads: each has its columns, so that what it writes in one layer it
// finds in its own cache in the next. Pictures too narrow for that are shared by pairs of rows.
typedef struct zn_conv_dot_parts {
    int64_t columns, rows; // of a part
    int64_t across;        // parts beside each other
    size_t count;
} zn_conv_dot_parts;

zn_conv_dot_parts zn_conv_dot_share(int64_t width, int64_t rows, int threads);
// args: those of `dot` with src, residual, mask and dst; its columns are set here.
void zn_conv_dot_run_part(const zn_conv_dot *dot, zn_conv_dot_args *args,
                          const zn_conv_dot_parts *parts, size_t part, int64_t rows, void *scratch);

#endif
