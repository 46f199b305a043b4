// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Flow matching by Euler's method, as diffusers' FlowMatchEulerDiscreteScheduler and Z-Image's
// pipeline have it. A latent at sigma is sigma * noise + (1 - sigma) * picture: sigma goes from 1
// to 0, and a step of the schedule is one answer of the network (two with guidance). n steps are n
// answers: the last one leads to sigma 0, at which the network is not asked.
//
// All arithmetic is in f32 in the order of the original. The network is a callback.
#ifndef ZN_DIFFUSION_FLOW_MATCH_H
#define ZN_DIFFUSION_FLOW_MATCH_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { ZN_FLOW_MOST_STEPS = 1000 };

// steps + 1 sigmas: from 1 to 1 / steps evenly, moved towards 1 by the shift (1: not at all), then
// 0.
zenith_status zn_flow_sigmas(int steps, double shift, float *sigmas, zn_error *err);

// What the network is told for sigma: the time, 0 at noise and 1 at the picture.
float zn_flow_time(float sigma);

// How many steps are left out of a run that begins with a picture of which `strength`, 0 < .. <= 1,
// is made anew: as diffusers' pipelines from picture to picture count them. 1: none.
int zn_flow_begin(int steps, double strength);

// sigma * noise + (1 - sigma) * picture, into noise. At sigma 1 that is the noise, to the bit.
void zn_flow_mix(float sigma, const float *picture, float *noise, size_t count);

typedef struct zn_flow_run {
    int steps;
    int begin; // the first step that is made, with a latent at its sigma; those before are left out
    double shift;
    // With guidance g > 0 the answer is p + g (p - n) for answers p and n to the prompt and to the
    // negative prompt. 0: the negative prompt is not asked.
    float guidance;
    float truncation; // no guidance from this time on; 0: all the way
    float normalise;  // the guided answer is no longer than so many times p; 0: it may be

    // The network's answer at a step into `answer`; negative: to the negative prompt.
    zenith_status (*predict)(void *cookie, int step, bool negative, const float *latent,
                             float *answer, zn_error *err);
    // After each step, with its number from 0, the new latent, and the picture that the answer
    // leads to: where the latent would be with one step to sigma 0. Not zero stops. May be NULL.
    int (*stepped)(void *cookie, int step, const float *latent, const float *predicted);
    void *cookie;
} zn_flow_run;

// Turns noise into a picture's latent, in place. ZENITH_CANCELLED where `stepped` said so.
zenith_status zn_flow_sample(const zn_flow_run *run, float *latent, size_t count, zn_error *err);

#endif
