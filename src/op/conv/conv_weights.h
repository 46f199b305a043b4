// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of convolutions as the lowerings want them: read from whatever type the checkpoint
// has, rounded to the grid of 8-bit weights where the convolution computes in 8 bits, packed once.
#ifndef ZN_OP_CONV_WEIGHTS_H
#define ZN_OP_CONV_WEIGHTS_H

#include "src/base/cpu.h"
#include "src/dnn/dnn.h"
#include "src/graph/packs.h"

// 8-bit weights are symmetric, with one scale per output channel: round(w / s), where
// s = largest / levels. There are 127 levels, and 63 without VNNI, where two products are added in
// 16 bits: 2 * 255 * 63 still fits.
int zn_conv_levels(const zn_cpu *cpu);
// scales: one per output channel (dimension 0 of the weight).
void zn_conv_weight_scales(const zn_tensor *weight, int levels, float *scales);

// The weights of a convolution: the parameter's, or made from it.
typedef struct zn_conv_weight {
    zn_tensor tensor;    // [out, in, kh, kw]; need not outlive the call that packs it
    const void *source;  // the parameter's bytes, which packed forms are found by
    const char *variant; // what was made of it; "": nothing
    // Not NULL: makes the values, f32, when they are packed; tensor.data is not there.
    void (*make)(const void *arg, float *dst);
    const void *arg;
    // Not 0: the kernels [kh, kw] in tensor.data begin so many elements apart, as those of one
    // frame of a weight over time do. whole: all frames, which share the scales of 8 bits.
    size_t step;
    zn_tensor whole;
} zn_conv_weight;

// Of a parameter [out, in, kh, kw], or of a frame of one [out, in, frames, kh, kw].
zn_conv_weight zn_conv_weight_of(const zn_tensor *parameter, int frame);

// What the scales of 8 bits are found in.
static inline const zn_tensor *zn_conv_weight_whole(const zn_conv_weight *weight)
{
    return weight->step ? &weight->whole : &weight->tensor;
}

// The shape that it has: without the frames.
zn_shape zn_conv_weight_shape(const zn_shape *parameter);

// Packed by oneDNN in `type`. levels 0: not rounded to a grid; else the integers (type s8) or the
// values they stand for (f32).
zenith_status zn_conv_weights_for_dnn(zn_packs *packs, const zn_conv_weight *weight, zn_type type,
                                      int levels, int repeats, const zn_dnn_conv *conv,
                                      const void **out, zn_error *err);
// Packed for the kernel conv_f32.
zenith_status zn_conv_weights_for_kernel(zn_packs *packs, const zn_conv_weight *weight, int levels,
                                         const void **out, zn_error *err);
// Packed for the kernel conv_dot, in bf16 or s8 (with levels); each input channel `repeats` times.
zenith_status zn_conv_weights_for_dot(zn_packs *packs, const zn_conv_weight *weight, zn_type type,
                                      int levels, int repeats, const void **out, zn_error *err);
// Packed for the kernel winograd.
zenith_status zn_conv_weights_for_winograd(zn_packs *packs, const zn_conv_weight *weight,
                                           int levels, const void **out, zn_error *err);
// Packed for the kernel conv_doubled.
zenith_status zn_conv_weights_for_doubled(zn_packs *packs, const zn_conv_weight *weight,
                                          const void **out, zn_error *err);

#endif
