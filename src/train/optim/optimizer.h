// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// AdamW on flat blocks of f32, as PyTorch has it (Loshchilov and Hutter, 2019: decay apart from the
// gradient, moments corrected for their start at zero), with clipping by the norm of the whole
// gradient and an average of the weights.
//
// In f16, gradients of maps are too small for the type's exponents. There the loss is multiplied by
// a scale, and with it every gradient; a step divides by it again (Micikevicius et al., 2018). A
// gradient that is not finite has overflowed: the step is not done, and the scale is halved. It is
// doubled after so many steps without. It is a power of two, so it changes no bit of what f16 can
// hold.
//
// A discriminator has a second part of the blocks, after the model: a rate, moments, decay
// and norm of their own, and no average. Both parts make their steps together, or neither does.
//
// The blocks are cut into pieces of ZN_OPTIMIZER_PIECE elements. An element's new value depends on
// that element alone, and the norm is summed piece by piece, in their order: whichever thread takes
// which pieces, the bits are the same.
#ifndef ZN_TRAIN_OPTIM_OPTIMIZER_H
#define ZN_TRAIN_OPTIM_OPTIMIZER_H

#include "src/base/executor.h"
#include "src/train/config/config.h"

enum { ZN_OPTIMIZER_PIECE = 8192, ZN_LARGEST_SCALE = 100 }; // the latter as a power of two

typedef struct zn_loss_scale {
    bool used;
    int exponent;       // of two; from 0 to ZN_LARGEST_SCALE
    uint64_t steps;     // done since it last changed
    uint64_t overflows; // of the whole run
} zn_loss_scale;

typedef struct zn_optimizer_part {
    zn_train_optimizer settings;
    size_t begin, end; // elements
    double norm;       // of the last gradient
    double lr;         // of the last step
} zn_optimizer_part;

enum { ZN_OPTIMIZER_PARTS = 2 };

typedef struct zn_optimizer {
    zn_optimizer_part parts[ZN_OPTIMIZER_PARTS]; // the model's; the discriminator's, maybe empty
    size_t count;                                // elements of each block
    float *weights, *gradient, *m, *v;
    float *ema;         // of the first part; NULL: none
    double *squares;    // of each piece of the gradient
    uint64_t step;      // steps done
    zn_executor *run;   // may be NULL: this thread does it all
    uint64_t all_steps; // at which the cosine ends
    zn_loss_scale scale;
    bool overflowed; // the last gradient was not finite, and its step was not done
} zn_optimizer;

// Blocks are zeroed; weights are the caller's to fill, and the average to set to them.
zenith_status zn_optimizer_create(const zn_train_optimizer *settings, size_t count,
                                  uint64_t all_steps, zn_executor *run, zn_optimizer *out,
                                  zn_error *err);
// Elements from `begin` on, a multiple of ZN_OPTIMIZER_PIECE, become the second part.
void zn_optimizer_divide(zn_optimizer *optimizer, size_t begin, const zn_train_optimizer *settings);
void zn_optimizer_free(zn_optimizer *optimizer); // zeroes it; a zeroed one is fine

// The rate of step number `step` (from 0).
double zn_optimizer_rate(const zn_train_optimizer *settings, uint64_t step, uint64_t all_steps);

// What the loss must be multiplied by for the next gradient; 1 without a scale.
float zn_optimizer_scale(const zn_optimizer *optimizer);

// One step by `gradient`, which is taken times `share` (one over the images it is the sum of),
// without its loss scale. A gradient that is not finite is a failure, and with a loss scale
// `overflowed`: weights, moments and the number of the step stay as they are.
zenith_status zn_optimizer_step(zn_optimizer *optimizer, float share, zn_error *err);

#endif
