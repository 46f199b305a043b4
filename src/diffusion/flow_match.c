// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/diffusion/flow_match.h"

#include "src/base/memory.h"

#include <math.h>

static const float TRAINED = 1000; // timesteps

zenith_status zn_flow_sigmas(int steps, double shift, float *sigmas, zn_error *err)
{
    if (steps < 1 || steps > ZN_FLOW_MOST_STEPS || !(shift > 0 && shift < 1e6))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a schedule has 1 to %d steps and a shift above 0", ZN_FLOW_MOST_STEPS);
    const float last = (float)(1.0 / steps);
    const float stride = steps > 1 ? (last - 1) / (float)(steps - 1) : 0;
    const float s = (float)shift, less = (float)(shift - 1);
    for (int i = 0; i < steps; i++) { // from both ends to the middle, as torch.linspace
        const float even = i < steps / 2 || steps == 1 ? 1 + stride * (float)i
                                                       : last - stride * (float)(steps - 1 - i);
        sigmas[i] = s * even / (1 + less * even);
    }
    sigmas[steps] = 0;
    return ZENITH_OK;
}

int zn_flow_begin(int steps, double strength)
{
    const double made = strength < 1 ? steps * strength : steps;
    return (int)(steps - made);
}

void zn_flow_mix(float sigma, const float *picture, float *noise, size_t count)
{
    if (!(sigma < 1)) return;
    const float rest = 1 - sigma;
    for (size_t i = 0; i < count; i++) noise[i] = sigma * noise[i] + rest * picture[i];
}

float zn_flow_time(float sigma)
{
    const float timestep = sigma * TRAINED;
    return (TRAINED - timestep) / TRAINED;
}

static double length_of(const float *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

// positive + guidance * (positive - negative), into positive.
static void guide(const zn_flow_run *run, float *positive, const float *negative, size_t count)
{
    const double before = run->normalise > 0 ? length_of(positive, count) : 0;
    for (size_t i = 0; i < count; i++)
        positive[i] = positive[i] + run->guidance * (positive[i] - negative[i]);
    if (!(run->normalise > 0)) return;
    const double most = before * (double)run->normalise, now = length_of(positive, count);
    if (!(now > most)) return;
    const float factor = (float)(most / now);
    for (size_t i = 0; i < count; i++) positive[i] *= factor;
}

static bool is_guided(const zn_flow_run *run, float time)
{
    return run->guidance > 0 && !(run->truncation > 0 && time > run->truncation);
}

// One step. answers: room for two.
static zenith_status step(const zn_flow_run *run, int number, const float *sigmas, float *latent,
                          float *answers, size_t count, zn_error *err)
{
    const float sigma = sigmas[number], dt = sigmas[number + 1] - sigma;
    ZN_TRY(run->predict(run->cookie, number, false, latent, answers, err));
    if (is_guided(run, zn_flow_time(sigma))) {
        ZN_TRY(run->predict(run->cookie, number, true, latent, answers + count, err));
        guide(run, answers, answers + count, count);
    }
    // The network's answer is the way from noise to picture, and dt goes the other way.
    float *predicted = answers + count; // the negative answer is not needed any more
    for (size_t i = 0; i < count; i++) {
        predicted[i] = latent[i] + sigma * answers[i];
        latent[i] = latent[i] - dt * answers[i];
    }
    if (!run->stepped || run->stepped(run->cookie, number, latent, predicted) == 0)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_CANCELLED, "stopped after step %d of %d", number + 1, run->steps);
}

zenith_status zn_flow_sample(const zn_flow_run *run, float *latent, size_t count, zn_error *err)
{
    float sigmas[ZN_FLOW_MOST_STEPS + 1];
    size_t bytes = 0;
    ZN_TRY(zn_flow_sigmas(run->steps, run->shift, sigmas, err));
    if (run->begin < 0 || run->begin >= run->steps)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "of %d steps none is left to be made",
                       run->steps);
    if (!zn_mul_size(count, 2 * sizeof(float), &bytes)) return zn_fail_memory(err, SIZE_MAX);
    float *answers = zn_alloc(bytes);
    if (!answers) return zn_fail_memory(err, bytes);
    zenith_status status = ZENITH_OK;
    for (int i = run->begin; i < run->steps && status == ZENITH_OK; i++)
        status = step(run, i, sigmas, latent, answers, count, err);
    zn_free(answers);
    return status;
}
