// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights stored as 8-bit floats may have a scale: weight = scale * stored number. Users of ComfyUI
// have them in two forms, and as plain casts without a scale. Beside "X.weight" lie
//
//   "X.weight_scale", perhaps "X.input_scale" and "X.comfy_quant" (a text in bytes); or
//   "X.scale_weight", perhaps "X.scale_input"; one tensor "scaled_fp8" then marks the file.
//
// The scale is one number, or one for each row (stored_weight.h). What is said about inputs is for
// computing in 8 bits and is not needed here. Other ways to store weights have tensors beside
// "X.weight" too: "X.weight_scale_2" (NVFP4), "X.scales" and "X.biases" (MLX).
#ifndef ZN_FORMAT_TENSOR_WEIGHT_SCALE_H
#define ZN_FORMAT_TENSOR_WEIGHT_SCALE_H

#include "src/format/tensor/weights.h"

#define ZN_WEIGHT_SCALE_TAIL "_scale" // what follows the weight's name in the form that is written

// The scale of a tensor that zn_weights_get or _find returned; 1 where there is none.
// ZENITH_UNSUPPORTED for several numbers (by row or block) and for a scale of what is no f8;
// ZENITH_BAD_FILE for one that is not finite. The sentence names file and tensor.
zenith_status zn_weight_scale(const zn_weights *weights, const zn_file_tensor *tensor, float *out,
                              zn_error *err);

// The scale that weights of this largest magnitude are written with in f8_e4m3 or f8_e5m2: the
// least power of two that brings it into the type's range. Then as few values as can be lie below
// the smallest normal number, where precision ends.
float zn_weight_scale_for(zn_type type, float largest);

// The tensor "X" + tail beside "X.weight", and the scale among them in either spelling; NULL where
// there is none.
const zn_file_tensor *zn_weight_beside(const zn_weights *weights, const char *name,
                                       const char *tail);
const zn_file_tensor *zn_weight_scale_find(const zn_weights *weights, const char *name);

// Whether a tensor only says how another is stored: a scale, or what lies beside one; and how many
// do.
bool zn_weight_is_note(const zn_weights *weights, const zn_file_tensor *tensor);
size_t zn_weight_notes(const zn_weights *weights);

#endif
