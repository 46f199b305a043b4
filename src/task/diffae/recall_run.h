// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The guesses by which known pictures draw linear codes (model/diffae/recall.h).
#ifndef ZN_TASK_DIFFAE_RECALL_RUN_H
#define ZN_TASK_DIFFAE_RECALL_RUN_H

#include "src/base/memory.h"
#include "src/model/diffae/recall.h"
#include "src/task/engine/part_call.h"

typedef struct zn_recall {
    zn_model *model;
    const zn_part_place *place;
    zn_diffae_cells cells;
    size_t known;
    float *spread;    // [code]: deviations
    float *tells;     // [views, views]
    float *norms;     // [cells, known]
    float *products;  // [cells, known], then weights
    float *views;     // [views]
    float *told;      // [cells, views]
    float *own, *all; // [cells, code]: what a cell is, and a mean for it
} zn_recall;

// All arrays lie in the arena.
zenith_status zn_recall_begin(zn_model *model, const zn_part_place *place, zn_arena *arena,
                              zn_recall *out, zn_error *err);
// The spread code that known pictures let expect of x = sqrt(a) times it and sqrt(1 - a) times
// normal numbers.
zenith_status zn_recall_guess(const zn_recall *r, double a, const float *x, float *answer,
                              zn_error *err);

// What each cell is expected to be, into r->own, of a spread code; the sharper, the more like the
// known picture that agrees best. Pictures whose norms are infinite do not count.
zenith_status zn_recall_expect(const zn_recall *r, double sharpness, const float *x, zn_error *err);

// Draws those cells anew that tell of an attribute, by known pictures that have it (strength below
// 0: have it not). 0.3 and more is all of the way from the code to that, less a part of it.
zenith_status zn_recall_edit(const zn_recall *r, int attribute, double strength, zn_arena *arena,
                             float *code, zn_error *err);

#endif
