// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of picture quality: compares a picture with its original by every measure of
// docs/EVALUATION.md at once. It holds SqueezeNet's weights, or has none and leaves that measure
// out. Does not change after open, but for the packed weights, which have a lock.
#ifndef ZN_TASK_QUALITY_JUDGE_H
#define ZN_TASK_QUALITY_JUDGE_H

#include "src/task/engine/engine.h"
#include "zenith/train.h"

typedef struct zn_judge zn_judge;

// squeezenet: the weights' file or folder; NULL: squeezenet1_0_dc.safetensors beside `weights` (may
// be NULL) or on the search path, and without it if it is not there.
zenith_status zn_judge_open(const char *squeezenet, const char *weights, zn_judge **out,
                            zn_error *err);
void zn_judge_free(zn_judge *judge);                    // NULL is fine
const char *zn_judge_squeezenet(const zn_judge *judge); // the path in use, or NULL

// Two pictures of one size, dense 8-bit RGB.
typedef struct zn_comparison {
    const uint8_t *original, *picture;
    int64_t width, height;
    const atomic_int *cancel; // NULL: nothing stops it
} zn_comparison;

// Fills the measures of pictures in *out, NaN where one is not defined, and leaves its other
// fields. Runs as a job of the engine's executor.
zenith_status zn_judge_compare(zn_judge *judge, zn_engine *engine, const zn_comparison *comparison,
                               zenith_quality *out, zn_error *err);

// An original through the encoder of one model and the decoder of another (or the same): all
// measures, the latent's distance and the times. `picture` gets the decoder's.
typedef struct zn_evaluation {
    zn_model *encoder, *decoder;
    const zenith_image *original, *picture; // 8-bit HWC data of one size
    zenith_run_params params;               // dtype never the default
} zn_evaluation;
zenith_status zn_judge_evaluate(zn_judge *judge, zn_engine *engine, const zn_evaluation *evaluation,
                                zenith_quality *out, zn_error *err);

#endif
