// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// From a model to a plan: build its graph for a size, fuse, assign types, plan.
#ifndef ZN_TASK_ENGINE_COMPILE_H
#define ZN_TASK_ENGINE_COMPILE_H

#include "src/graph/passes.h"
#include "src/graph/plan.h"
#include "src/model/model.h"
#include "zenith/zenith.h"

// What is computed. How much memory it may take is no part of it: bits do not depend on that.
typedef struct zn_compile_key {
    zn_model *model;
    const zn_part *part;
    zn_sizes sizes;
    zenith_dtype dtype;   // never the default
    zenith_number pixels; // ZENITH_U8 or ZENITH_F32: of ports that are pictures
    zn_plan_mode mode;
    int64_t band;
    const zn_calibration *calibration; // for int8; must outlive what is compiled
    bool late_frames;                  // zn_plan_options
    bool every_value; // those too that this type would not have and others do: for calibration
} zn_compile_key;

typedef struct zn_machine {
    zn_cpu cpu;
    int threads;
    struct zn_dnn *dnn;
    zn_team *team;            // packs weights; NULL: the caller's thread alone does
    const atomic_int *cancel; // stops compiling; NULL: nothing does
} zn_machine;

typedef struct zn_compiled {
    zn_compile_key key; // holds a reference to the model
    zn_graph graph;
    zn_plan *plan;
    bool *watched; // of each node, by its id: what a guard looks at (guard.h)
    // Of the call it is for: what the arena may have (0: no bound), and the folder for a spill
    // file.
    size_t max_bytes;
    const char *spill;
} zn_compiled;

zenith_dtype zn_default_dtype(const zn_cpu *cpu);
// `wanted`, and for the default that of one model: int8 rather than f32 where its weights are in 8
// and 4 bits already.
zenith_dtype zn_dtype_of(const zn_cpu *cpu, const zn_model *model, zenith_dtype wanted);

// The graph of one part as the model describes it, all f32 but for pictures in bytes.
zenith_status zn_build_part(const zn_compile_key *key, zn_graph *graph, zn_error *err);

// What a call allows for working memory.
typedef struct zn_allowance {
    size_t max_bytes;     // of the arena; 0: no bound
    const char *spill;    // a folder for a spill file; NULL: none is allowed
    zn_plan_needs *needs; // filled after ZENITH_LIMIT, if not NULL
    size_t max_packed;    // of the model's packed weights; 0: no bound
} zn_allowance;

// allowed NULL: no bound.
zenith_status zn_compile(const zn_compile_key *key, const zn_allowance *allowed,
                         const zn_machine *machine, zn_compiled **out, zn_error *err);
void zn_compiled_free(zn_compiled *compiled);
bool zn_compile_key_equal(const zn_compile_key *a, const zn_compile_key *b);

#endif
