// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One run of a part of a model between plain arrays, for tasks that put several parts together.
#ifndef ZN_TASK_ENGINE_PART_CALL_H
#define ZN_TASK_ENGINE_PART_CALL_H

#include "src/task/engine/engine.h"

typedef struct zn_part_call {
    zn_model *model;
    const char *part;
    zn_sizes sizes;
    zenith_dtype dtype; // never the default
    // Dense f32 in the order of the ports, none of which are scalars.
    const float *inputs[ZN_MOST_PORTS];
    float *outputs[ZN_MOST_PORTS];
} zn_part_call;

// Where calls run: in a job on `stream`.
typedef struct zn_part_place {
    zn_engine *engine;
    int stream;
    zn_team *team;
    zn_bound bound;
    const atomic_int *cancel; // NULL: never
} zn_part_place;

zenith_status zn_part_call_run(const zn_part_place *place, const zn_part_call *call, zn_error *err);

#endif
