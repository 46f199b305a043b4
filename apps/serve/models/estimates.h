// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model can compute in here, and the memory that this takes: asked of the library once, at
// the start, because its answer waits for pictures that are under way, and the polling thread never
// waits.
#ifndef ZN_SERVE_MODELS_ESTIMATES_H
#define ZN_SERVE_MODELS_ESTIMATES_H

#include "zenith/zenith.h"

#include <jansson.h>

enum { SERVE_TYPES = 3, SERVE_SIDES = 2 };

typedef struct serve_estimates {
    zenith_dtype usual; // where a request names none
    // By types from ZENITH_DTYPE_F32, sides, and encoder and decoder. 0: not possible.
    uint64_t bytes[SERVE_TYPES][SERVE_SIDES][2];
} serve_estimates;

// run: as requests are computed. A type other than DEFAULT there is the only one that is offered.
void serve_estimates_fill(serve_estimates *estimates, zenith_context *context, zenith_model *model,
                          const zenith_model_info *info, const zenith_run_params *run);
// A bit (1 << dtype) for each type that is offered.
unsigned serve_estimates_types(const serve_estimates *estimates);
// For /v1/models: {"type": "bf16", "memory": [{"side": 512, "encode": bytes, "decode": bytes},
// ..]}, the usual one first.
json_t *serve_estimates_describe(const serve_estimates *estimates);

#endif
