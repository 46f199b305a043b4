// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What draws linear codes without a network that was trained: known pictures, as their codes
// (config.json: "recall", how many).
//
// A map is divided into cells. "Views" are the first numbers of each cell, in the directions in
// which it varies most; "tells" says of each cell how much which views of which other cells tell of
// it: eyes tell of eyes, and the colour of any skin of that of all skin. Of a noisy map, each cell
// is the mean of that cell of all known pictures, weighted by how well they agree with the noisy
// map in the views that tell of it: the best guess there is, if pictures were put together of parts
// of known ones. A walk by these guesses from noise to no noise (diffusion/ddim.h) so puts parts
// together that agree, and draws pictures that were never seen. tools/models/diffae_recall.py
// chooses the known pictures and measures what tells of what.
//
// Codes are times their deviations here ("spread"), so that noise is alike everywhere on the map.
// Five parts, of which tells and norms are only there to be checked and written: zn_diffae_tells
// and zn_diffae_norms read them.
//
//     views       a spread code -> the views of its map, V x, 16 a cell
//     tells       [views, views], for the rows of a unit matrix. Rows 16 i .. 16 i + 15 are those
//                 of cell i, in which columns 16 j .. 16 j + 15 are a symmetric matrix M_ij of
//                 16 x 16.
//     norms       [cells * known], for an input of ones of that size: for each cell i and known
//                 picture k, half the sum of (V c_k)_j M_ij (V c_k)_j over all j
//     recall      for each cell i, M_ij (V x)_j for all j [cells, views] -> its products with the
//                 known pictures [cells, known]. A product less the norm says how well they agree.
//     recollect   weights [cells, known] -> the means of the known pictures by them [cells, code],
//                 as spread codes
//
// Between the first and the fourth, zn_diffae_tell takes what tells of a cell; then zn_diffae_weigh
// makes weights of agreement; at last zn_diffae_in_cell takes the cell itself of its mean.
// Everything is f32: norms and products nearly cancel.
#ifndef ZN_MODEL_DIFFAE_RECALL_H
#define ZN_MODEL_DIFFAE_RECALL_H

#include "src/model/diffae/config.h"
#include "src/model/family.h"

enum { ZN_DIFFAE_CELLS = 64, ZN_DIFFAE_CELLS_ROW = 8 }; // of a map, and of one of its sides
enum { ZN_DIFFAE_VIEWS = 16 * ZN_DIFFAE_CELLS };

void zn_diffae_views_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                           zn_ports *out);
void zn_diffae_views_build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                           zn_node *const *inputs, zn_node **outputs);
void zn_diffae_tells_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                           zn_ports *out);
void zn_diffae_tells_build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
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

// What tells of a cell in the views [views], in their order.
void zn_diffae_tell(const float *tells, int cell, const float *views, float *told);
// Products with `count` known pictures become their weights: exp(sharpness * (product - norm)),
// that sum to 1.
void zn_diffae_weigh(double sharpness, const float *norms, float *products, size_t count);

#endif
