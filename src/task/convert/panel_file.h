// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One file of a model's weights in few bits: matrices as panels (tensor/panels.h, docs/FORMATS.md),
// the rest in floating numbers, under the names of `build`. Weights are read, packed and written
// some rows at a time, so memory does not grow with the model; the same weights give the same
// bytes, on any number of threads.
#ifndef ZN_TASK_CONVERT_PANEL_FILE_H
#define ZN_TASK_CONVERT_PANEL_FILE_H

#include "src/base/parallel.h"
#include "src/model/parameter_list.h"

typedef enum zn_recipe {
    ZN_RECIPE_MIXED = 0, // 4 bits where the family takes less care, else 8
    ZN_RECIPE_Q4,
    ZN_RECIPE_Q8,
    ZN_RECIPE_COUNT
} zn_recipe;

typedef struct zn_panel_file_call {
    zn_recipe recipe;
    bool rotate; // matrices whose inputs are whole groups of 256
    zn_team *team;
    // After some rows of a tensor; done, bytes: of those that are read in all. Not zero: stop, with
    // ZENITH_CANCELLED.
    int (*stepped)(void *cookie, const char *tensor, uint64_t done, uint64_t bytes);
    void *cookie;
} zn_panel_file_call;

// Parameters of one class that have as many bits.
typedef struct zn_panel_class {
    const char *name;
    int bits; // 0: floating numbers
    uint64_t tensors, weights, bytes_before, bytes_after;
    double errors; // of matrices: the sum of their relative errors
} zn_panel_class;

enum { ZN_MOST_PANEL_CLASSES = 16 };

typedef struct zn_panel_facts {
    zn_panel_class classes[ZN_MOST_PANEL_CLASSES];
    int count;
} zn_panel_facts;

// The family must have `writing`. Written beside and renamed: a failure leaves what was there.
zenith_status zn_panel_file_write(const zn_parameter_list *list, const char *path,
                                  const zn_panel_file_call *call, zn_panel_facts *facts,
                                  zn_error *err);

#endif
