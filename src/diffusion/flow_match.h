// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Flow matching by Euler's method, as diffusers' FlowMatchEulerDiscreteScheduler and Z-Image's pipeline have
// it. A latent at sigma is sigma * noise + (1 - sigma) * picture: sigma goes from 1 to 0, and a step of the
// schedule is one answer of the network (two with guidance). n steps are n answers: the last one leads to
// sigma 0, at which the network is not asked.
//
// All arithmetic is in f32 in the order of the original. The network is a callback.
#ifndef ZN_DIFFUSION_FLOW_MATCH_H
#define ZN_DIFFUSION_FLOW_MATCH_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { ZN_FLOW_MOST_STEPS = 1000 };

// steps + 1 sigmas: from 1 to 1 / steps evenly, moved towards 1 by the shift (1: not at all), then 0.
zenith_status zn_flow_sigmas(int steps, double shift, float *sigmas, zn_error *err);

// What the network is told for sigma: the time, 0 at noise and 1 at the picture.
float zn_flow_time(float sigma);

typedef struct zn_flow_run {
    int steps;
    double shift;
    // With guidance g > 0 the answer is p + g (p - n) for answers p and n to the prompt and to the negative
    // prompt. 0: the negative prompt is not asked.
    float guidance;
    float truncation; // no guidance from this time on; 0: all the way
    float normalise;  // the guided answer is no longer than so many times p; 0: it may be

    // The network's answer at a step into `answer`; negative: to the negative prompt.
    zenith_status (*predict)(void *cookie, int step, bool negative, const float *latent,
                             float *answer, zn_error *err);
    // After each step, with its number from 0 and the new latent; not zero stops. May be NULL.
    int (*stepped)(void *cookie, int step, const float *latent);
    void *cookie;
} zn_flow_run;

// Turns noise into a picture's latent, in place. ZENITH_CANCELLED where `stepped` said so.
zenith_status zn_flow_sample(const zn_flow_run *run, float *latent, size_t count, zn_error *err);

#endif
