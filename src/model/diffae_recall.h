// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What draws linear codes without a network that was trained: known pictures, as their codes (config.json: "recall", how many).
//
// A map is divided into cells. "looks" says of each cell which cells tell what is in it, 0 .. 1: eyes tell of eyes, hair and
// background of hair and background. Of a noisy map, each cell is the mean of that cell of all known pictures, weighted by
// how well they agree with the noisy map in the cells that it looks at: the best guess there is, if pictures were put
// together of parts of known ones. A walk by these guesses from noise to no noise (diffusion/ddim.h) so puts
// parts together that agree, and draws pictures that were never seen. tools/diffae_recall.py chooses the known pictures and
// measures which cells depend on each other.
//
// Codes are times their deviations here ("spread"), so that noise is alike everywhere on the map. Four parts:
//
//     looks       [cells, cells], for the rows of a unit matrix: how much cell i (row) looks at cell j
//     norms       [cells * known], for as many ones: of each cell and known picture k, half the sum of look * (W^t c_k)^2 over
//                 the map
//     recall      what each cell looks at [cells, code], as spread codes -> its products with the known pictures [cells, known].
//                 Less the norm, that is how well they agree.
//     recollect   weights [cells, known] -> the means of the known pictures by them [cells, code], as spread codes
//
// Before the third and after the fourth, zn_diffae_in_cell takes what a cell has of a code; between them, zn_diffae_weigh makes
// weights of agreement. Everything is f32: norms and products nearly cancel.
#ifndef ZN_MODEL_DIFFAE_RECALL_H
#define ZN_MODEL_DIFFAE_RECALL_H

#include "src/model/diffae_config.h"
#include "src/model/family.h"

enum { ZN_DIFFAE_CELLS = 64, ZN_DIFFAE_CELLS_ROW = 8 }; // of a map, and of one of its sides

void zn_diffae_looks_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                           zn_ports *out);
void zn_diffae_looks_build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                           zn_node *const *inputs, zn_node **outputs);
void zn_diffae_norms_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                           zn_ports *out);
void zn_diffae_norms_build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                           zn_node *const *inputs, zn_node **outputs);
void zn_diffae_recall_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                            zn_ports *out);
void zn_diffae_recall_build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                            zn_node *const *inputs, zn_node **outputs);
void zn_diffae_recollect_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                               zn_ports *out);
void zn_diffae_recollect_build(const zn_scope *scope, const zn_variant *variant,
                               const zn_sizes *sizes, zn_node *const *inputs, zn_node **outputs);

// Numbers of a map whose codes are linear.
static inline int64_t zn_diffae_values(const zn_diffae_shape *is)
{
    return is->linear * is->linear * is->inputs;
}

// The columns of the components W [code, values], those of a cell side by side.
typedef struct zn_diffae_cells {
    float *columns; // [values, code]
    size_t *place;  // [values]: where the column of a value is
    size_t first[ZN_DIFFAE_CELLS + 1];
    size_t code;
} zn_diffae_cells;

// Fills all but the columns.
void zn_diffae_cells_of(const zn_diffae_shape *is, zn_diffae_cells *out);
// W_c W_c^t spread, W_c the columns of a cell: what the cell has of a code, as a code.
void zn_diffae_in_cell(const zn_diffae_cells *cells, int cell, const float *spread, float *dst);

// Products with `count` known pictures become their weights: exp(sharpness * (product - norm)), that sum to 1.
void zn_diffae_weigh(double sharpness, const float *norms, float *products, size_t count);

#endif
