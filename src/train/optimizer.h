// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// AdamW on flat blocks of f32, as PyTorch has it (Loshchilov and Hutter, 2019: decay apart from the
// gradient, moments corrected for their start at zero), with clipping by the norm of the whole
// gradient and an average of the weights.
//
// The blocks are cut into pieces of ZN_OPTIMIZER_PIECE elements. An element's new value depends on
// that element alone, and the norm is summed piece by piece, in their order: whichever thread takes
// which pieces, the bits are the same.
#ifndef ZN_TRAIN_OPTIMIZER_H
#define ZN_TRAIN_OPTIMIZER_H

#include "src/base/executor.h"
#include "src/train/config.h"

enum { ZN_OPTIMIZER_PIECE = 8192 };

typedef struct zn_optimizer {
    zn_train_optimizer settings;
    size_t count; // elements of each block
    float *weights, *gradient, *m, *v;
    float *ema;         // NULL: none
    double *squares;    // of each piece of the gradient
    uint64_t step;      // steps done
    double norm;        // of the last gradient
    zn_executor *run;   // may be NULL: this thread does it all
    double lr;          // of the last step
    uint64_t all_steps; // at which the cosine ends
} zn_optimizer;

// Blocks are zeroed; weights are the caller's to fill, and the average to set to them.
zenith_status zn_optimizer_create(const zn_train_optimizer *settings, size_t count,
                                  uint64_t all_steps, zn_executor *run, zn_optimizer *out,
                                  zn_error *err);
void zn_optimizer_free(zn_optimizer *optimizer); // zeroes it; a zeroed one is fine

// The rate of step number `step` (from 0).
double zn_optimizer_rate(const zn_train_optimizer *settings, uint64_t step, uint64_t all_steps);

// One step by `gradient`, which is taken times `scale` (one over the images it is the sum of).
zenith_status zn_optimizer_step(zn_optimizer *optimizer, float scale, zn_error *err);

#endif
