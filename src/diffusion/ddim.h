// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Diffusion in discrete timesteps: DDPM (Ho et al. 2020) and DDIM (Song et al. 2021), as diffusion
// autoencoders use them, and the way back from a picture to its noise. At timestep t there is
// sqrt(a_t) start + sqrt(1 - a_t) noise, a_t = (1 - beta_0) .. (1 - beta_t).
//
// Fewer steps than the network was trained with take every s-th timestep from 0 on, s =
// ceil(timesteps / steps); a_t is taken at those, and the network is told t as it was in training.
//
// Factors are made in double; what is done with pictures is in f32, in the order of the original.
// The network is a callback.
#ifndef ZN_DIFFUSION_DDIM_H
#define ZN_DIFFUSION_DDIM_H

#include "src/base/prediction.h"
#include "src/base/status.h"
#include "src/diffusion/noise.h"

#include <stdbool.h>
#include <stddef.h>

enum { ZN_DDIM_MOST_TIMESTEPS = 10000 };

typedef struct zn_ddim_betas {
    int timesteps;
    double first, last; // evenly from one to the other
} zn_ddim_betas;

// One step of a schedule. The same fields for every way through it: a walk down goes from `now` to
// `before`, a walk up from `now` to `after`.
typedef struct zn_ddim_step {
    int timestep; // what the network is told
    double now, before,
        after; // a at this step, at the one before in time (1: the start) and after (0: noise)
} zn_ddim_step;

// The steps in ascending order of time, into room for as many. ZENITH_INVALID_ARGUMENT, with
// numbers of steps that do, where no stride gives exactly so many.
zenith_status zn_ddim_steps(const zn_ddim_betas *betas, int steps, zn_ddim_step *out,
                            zn_error *err);

typedef enum zn_ddim_kind {
    ZN_DDIM = 0, // eta 0: no noise is added
    ZN_DDPM      // ancestral: the posterior's mean and, as its variance, beta
} zn_ddim_kind;

typedef struct zn_ddim_run {
    zn_ddim_betas betas;
    int steps;
    zn_ddim_kind kind;
    double eta; // of DDIM: how much of DDPM's noise is added
    zn_prediction prediction;
    bool clips;    // the start is kept within -1 .. 1, and the noise is then what is left
    uint64_t seed; // of the noise that steps add: each has its own
    // Numbers of a sample, where there are several one after another: the noise of the i-th is that
    // of seed + i. 0: all numbers are one sample.
    size_t each;
    zn_noise noise;

    float *start; // NULL, or room for the start that the answer of a step of DDIM means
    // The network's answer at a step (numbered in ascending order of time) into `answer`.
    zenith_status (*predict)(void *cookie, int step, const float *x, float *answer, zn_error *err);
    // After each step, with its number from 0 in the order of the walk, and what there is then; not
    // zero stops. May be NULL.
    int (*stepped)(void *cookie, int step, const float *x);
    void *cookie;
} zn_ddim_run;

// Turns noise into a start, in place. ZENITH_CANCELLED where `stepped` said so.
zenith_status zn_ddim_sample(const zn_ddim_run *run, float *x, size_t count, zn_error *err);
// Turns a start into the noise that zn_ddim_sample with eta 0 makes it of, nearly.
zenith_status zn_ddim_invert(const zn_ddim_run *run, float *x, size_t count, zn_error *err);

// Between two noises, on the arc: weight 0 is a, 1 is b. The angle is that of all numbers as one
// vector. Where they point the same way (or one is zero), on the straight line.
void zn_ddim_slerp(const float *a, const float *b, double weight, float *dst, size_t count);

#endif
