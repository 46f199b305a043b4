// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of tensors in another set of names, from the front, some segments at a time. A segment is
// what ends with a dot.
#ifndef ZN_MODEL_TRANSLATE_H
#define ZN_MODEL_TRANSLATE_H

#include "src/format/tensor/weights.h"
#include "src/model/stored_parameter.h"
#include "src/nn/scope.h"

typedef struct zn_translation {
    const char *ours,
        *theirs; // one or more segments, each with its dot; NULL after the last of a set
} zn_translation;

// Each appends to dst what stands for the beginning of `name`, and says how much of it that was.
size_t zn_translate_known(const zn_translation *set, const char *name,
                          char dst[ZN_NAME_SIZE]);                     // 0: none
size_t zn_translate_segment(const char *name, char dst[ZN_NAME_SIZE]); // it stays as it is

// Which of ours are one tensor in a file, by rows: whose names have `ours` in them are piece
// `piece` of it.
typedef struct zn_name_piece {
    const char *ours; // NULL after the last
    int piece, pieces;
} zn_name_piece;

// One way that files name tensors: what stands before all names, and how segments are called.
typedef struct zn_name_set {
    const char *outer; // "", "model."
    const zn_translation *segments;
    const zn_name_piece *pieces; // NULL: each tensor is one of ours
} zn_name_set;

// Where the file has the tensor that `build` calls `name`, by the first set that has it, into dst.
// False: none has.
bool zn_translate_find(const zn_weights *weights, const zn_name_set *sets, int count,
                       const char *name, zn_stored_name *dst);

#endif
