// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a model as a set of weights has them, in any stored form: which there are and
// what shapes they have comes from the network itself, built for its smallest sizes. Nothing is
// computed with these weights, so forms that no product reads are listed too.
#ifndef ZN_MODEL_PARAMETER_LIST_H
#define ZN_MODEL_PARAMETER_LIST_H

#include "src/base/memory.h"
#include "src/format/tensor/stored_weight.h"
#include "src/model/family.h"

typedef struct zn_listed_parameter {
    const char *name;        // as `build` calls it
    zn_stored_weight weight; // the tensor that it is, or is a part of
    size_t first, rows;      // which rows of that
    zn_shape shape;
    const char *layout; // of the part that it belongs to; NULL: the usual one
} zn_listed_parameter;

typedef struct zn_parameter_list {
    const zn_weights *weights; // borrowed
    const zn_family *family;
    const zn_variant *variant;
    unsigned parts;
    zn_arena arena; // names
    zn_listed_parameter *items;
    size_t count, capacity; // in the order of `build`
    char layouts[ZN_MOST_PARTS][ZN_LAYOUT_SIZE];
} zn_parameter_list;

// Of families that have `writing`. *out must stay where it is. ZENITH_UNSUPPORTED for weights of
// others; ZENITH_BAD_FILE where a parameter is missing or misshapen.
zenith_status zn_parameter_list_make(const zn_weights *weights, zn_parameter_list *out,
                                     zn_error *err);
void zn_parameter_list_free(zn_parameter_list *list); // a zeroed one is fine

// The layout of a part, as of a scope; NULL: the usual one.
const char *zn_parameter_list_layout(const zn_parameter_list *list, const zn_part *part);

#endif
