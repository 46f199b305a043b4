// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A weight as a model means it: a name, a shape [out, in], and rows of numbers, however many
// tensors of the file make it and in whatever form. The forms:
//
//   plain    elements of a type of ours; 8-bit floats perhaps times a scale, one or one for each
//            row
//   blocks   GGUF's: Q4_0, Q4_K, ... (block_types.h)
//   mlx      "X.weight" U32 [out, in * bits / 32], "X.scales" and "X.biases" [out, in / group]: in
//            each word 8 numbers of 4 bits or 4 of 8, lowest bits first; weight = number * scale +
//            bias
//   int8     "X.weight" I8 [out, in], "X.weight_scale" for each row or for all; perhaps rotated
//            (convrot.h), which "X.comfy_quant" or the file's metadata says (quant_note.h)
//   nvfp4    "X.weight" U8 [out, in / 2], the even column in the high half; "X.weight_scale"
//            F8_E4M3 for each 16 columns, in tiles of 128 rows by 4; "X.weight_scale_2" for all
//   panels   ours (tensor/panels.h), used directly: "X.weight" U8 [panels, k / 4 or k / 8, 32, 4],
//            "X.weight_steps" U8 of 4 bits, "X.weight_scale" F32, "X.weight_sum" I32, all at
//            multiples of 64 bytes; outputs, inputs, bits and rotation are in the metadata
//            (quant_note.h)
//
// The numbers here are the specification for faster code: each product and sum is rounded to f32.
#ifndef ZN_FORMAT_TENSOR_STORED_WEIGHT_H
#define ZN_FORMAT_TENSOR_STORED_WEIGHT_H

#include "src/format/tensor/weights.h"
#include "src/tensor/panels.h"

typedef enum zn_weight_form {
    ZN_WEIGHT_PLAIN,
    ZN_WEIGHT_BLOCKS,
    ZN_WEIGHT_MLX,
    ZN_WEIGHT_INT8,
    ZN_WEIGHT_NVFP4,
    ZN_WEIGHT_PANELS,
} zn_weight_form;

typedef struct zn_stored_weight {
    zn_weight_form form;
    zn_shape shape; // as the model means it
    size_t rows, columns;
    const zn_file_tensor *numbers; // "X.weight"
    const zn_file_tensor *scales;  // NULL: `scale` is for all
    const zn_file_tensor *offsets; // mlx: the biases
    float scale;
    size_t bits;       // mlx, panels: of a number, 4 or 8
    size_t group;      // mlx: weights that share a scale
    size_t rotated_by; // int8, panels: features that were rotated together; 0: none
    size_t bytes;      // of all tensors that make it
    zn_panels panels;  // panels: where they lie
} zn_stored_weight;

// The weight that a tensor of the set stands for, which zn_weights_find or _get returned. It is all
// borrowed from the set. `expected` is the shape that it must have, or NULL; dimensions of 1 may be
// left out in the file. MLX's shapes alone do not tell 4 bits in groups of 64 from 8 in groups of
// 32: without `expected` the metadata "quantization_level" or config.json decides, else groups of
// 64. ZENITH_BAD_FILE for another shape or for tensors that do not go together, ZENITH_UNSUPPORTED
// for a form that is not read; the sentence names file and tensor.
zenith_status zn_stored_weight_of(const zn_weights *weights, const zn_file_tensor *tensor,
                                  const zn_shape *expected, zn_stored_weight *out, zn_error *err);

// Rows begin <= r < end as f32; of rotated weights, as they were before.
void zn_stored_weight_read(const zn_stored_weight *weight, size_t begin, size_t end, float *dst);

// Weights that a file has in 4 bits, as they are: see tensor/four_panels.h.
typedef struct zn_stored_four {
    const int8_t *levels;
    size_t group; // columns that share a factor
    size_t unit;  // columns that are read together: a multiple of the group
    bool offsets;
} zn_stored_four;

bool zn_stored_weight_is_four(const zn_stored_weight *weight, zn_stored_four *out);
// Columns left <= c < left + width of a row of such a weight: multiples of the unit.
void zn_stored_weight_read_four(const zn_stored_weight *weight, size_t row, size_t left,
                                size_t width, uint8_t *numbers, float *factors, float *offsets);

// Bits of the file for each weight, with scales and all; 0 where it has no weights.
double zn_stored_weight_bits(const zn_stored_weight *weight);

// "BF16", "Q4_K", "F8_E4M3 scaled", "MLX 4-bit, groups of 64", "INT8 convrot 256", "NVFP4",
// "panels 4-bit, rotated 256".
void zn_stored_weight_text(const zn_stored_weight *weight, char *dst, size_t size);

#endif
