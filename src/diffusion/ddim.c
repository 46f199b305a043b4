// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/diffusion/ddim.h"

#include "src/base/memory.h"
#include "src/base/random.h"

#include <math.h>
#include <string.h>

// --- schedules ----------------------------------------------------------------------------------

static int stride_of(int timesteps, int steps)
{
    return (timesteps + steps - 1) / steps;
}

// How many timesteps there are at the stride that so many steps ask for.
static int steps_made(int timesteps, int steps)
{
    return stride_of(timesteps, stride_of(timesteps, steps));
}

static zenith_status check_steps(const zn_ddim_betas *betas, int steps, zn_error *err)
{
    const int timesteps = betas->timesteps;
    if (timesteps < 1 || timesteps > ZN_DDIM_MOST_TIMESTEPS || !(betas->first > 0) ||
        !(betas->first < 1) || !(betas->last > 0) || !(betas->last < 1))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a schedule has 1 to %d timesteps and betas between 0 and 1",
                       ZN_DDIM_MOST_TIMESTEPS);
    if (steps < 1 || steps > timesteps)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%d steps: a schedule of %d timesteps has 1 to %d", steps, timesteps,
                       timesteps);
    if (steps_made(timesteps, steps) == steps) return ZENITH_OK;
    int more = steps;
    while (steps_made(timesteps, more) != more) more++; // all timesteps do
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "no stride through %d timesteps gives exactly %d steps: take %d or %d",
                   timesteps, steps, steps_made(timesteps, steps), more);
}

zenith_status zn_ddim_steps(const zn_ddim_betas *betas, int steps, zn_ddim_step *out, zn_error *err)
{
    ZN_TRY(check_steps(betas, steps, err));
    const int stride = stride_of(betas->timesteps, steps);
    const double span = betas->timesteps > 1 ? (betas->last - betas->first) / (betas->timesteps - 1)
                                             : 0;
    double product = 1;
    for (int t = 0; t < betas->timesteps; t++) {
        product *= 1 - (betas->first + span * t);
        if (t % stride == 0) out[t / stride] = (zn_ddim_step){.timestep = t, .now = product};
    }
    for (int i = 0; i < steps; i++) {
        out[i].before = i > 0 ? out[i - 1].now : 1;
        out[i].after = i + 1 < steps ? out[i + 1].now : 0;
    }
    return ZENITH_OK;
}

// --- steps --------------------------------------------------------------------------------------

typedef struct walk {
    const zn_ddim_run *run;
    zn_ddim_step *steps;
    float *answer, *noise; // noise NULL: none is added
    float *x;
    size_t count;
} walk;

// x = start / up + what is left of the noise: x * up - start = noise * factor.
typedef struct factors {
    float up, down, noise; // down: 1 / up
} factors;

static factors factors_of(const zn_ddim_step *at)
{
    return (factors){(float)sqrt(1 / at->now), (float)sqrt(at->now), (float)sqrt(1 / at->now - 1)};
}

// The start that the network's answer means.
static float start_at(const walk *w, factors f, size_t i)
{
    const float x = w->x[i], answer = w->answer[i];
    float start = answer;
    if (w->run->prediction == ZN_PREDICT_NOISE) start = x * f.up - answer * f.noise;
    if (w->run->prediction == ZN_PREDICT_VELOCITY) start = (x - answer * f.noise) * f.down;
    if (!w->run->clips) return start;
    return start < -1 ? -1 : start > 1 ? 1 : start; // NaN stays
}

// The start into x, and the noise that belongs to it (another than the network's, where the start
// was clipped) into answer.
static void split(const walk *w, const zn_ddim_step *at)
{
    const factors f = factors_of(at);
    for (size_t i = 0; i < w->count; i++) {
        const float start = start_at(w, f, i);
        w->answer[i] = (w->x[i] * f.up - start) / f.noise;
        w->x[i] = start;
    }
}

// A start and a noise, mixed.
static void mix(const walk *w, double start, double noise)
{
    const float a = (float)start, b = (float)noise;
    for (size_t i = 0; i < w->count; i++) w->x[i] = w->x[i] * a + w->answer[i] * b;
}

// Seeds far from each other, and from those that callers count up for their pictures: equal noise
// in two steps, or in a step and in what the walk began with, would not be noise.
static uint64_t seed_of(uint64_t seed, int number)
{
    uint32_t words[4];
    zn_philox(seed, (uint64_t)number, words);
    return words[0] | (uint64_t)words[1] << 32;
}

static void add_noise(const walk *w, int number, double deviation)
{
    const float factor = (float)deviation;
    const size_t each = w->run->each ? w->run->each : w->count;
    for (size_t i = 0; i < w->count / each; i++)
        zn_noise_fill(w->run->noise, seed_of(w->run->seed + i, number), 0, w->noise + i * each,
                      each);
    for (size_t i = 0; i < w->count; i++) w->x[i] += factor * w->noise[i];
}

static void step_ddim(const walk *w, const zn_ddim_step *at, int number)
{
    const double eta = w->run->eta;
    const double deviation = eta * sqrt((1 - at->before) / (1 - at->now)) *
                             sqrt(1 - at->now / at->before);
    split(w, at);
    if (w->run->start) memcpy(w->run->start, w->x, w->count * sizeof *w->x);
    mix(w, sqrt(at->before), sqrt(1 - at->before - deviation * deviation));
    if (w->noise && at->timestep > 0) add_noise(w, number, deviation);
}

// The posterior's mean, of the start and of what there was.
static void step_ddpm(const walk *w, const zn_ddim_step *at, int number)
{
    const double alpha = at->now / at->before, beta = 1 - alpha;
    const float of_start = (float)(beta * sqrt(at->before) / (1 - at->now));
    const float of_x = (float)((1 - at->before) * sqrt(alpha) / (1 - at->now));
    const factors f = factors_of(at);
    for (size_t i = 0; i < w->count; i++) w->x[i] = of_start * start_at(w, f, i) + of_x * w->x[i];
    if (at->timestep > 0) add_noise(w, number, sqrt(beta));
}

// --- walks --------------------------------------------------------------------------------------

static zenith_status begin(walk *w, bool noisy, zn_error *err)
{
    const zn_ddim_run *run = w->run;
    size_t values = 0, schedule = 0;
    if (!(run->eta >= 0 && run->eta <= 1))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "eta is 0 (no noise) to 1 (as DDPM adds)");
    if (run->steps < 1 || run->steps > ZN_DDIM_MOST_TIMESTEPS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%d steps: a schedule has 1 to %d", run->steps,
                       ZN_DDIM_MOST_TIMESTEPS);
    schedule = (size_t)run->steps * sizeof *w->steps;
    if (!zn_mul_size(w->count, sizeof(float), &values)) return zn_fail_memory(err, SIZE_MAX);
    w->steps = zn_alloc(schedule);
    if (!w->steps) return zn_fail_memory(err, schedule);
    ZN_TRY(zn_ddim_steps(&run->betas, run->steps, w->steps, err));
    w->answer = zn_alloc(values);
    if (noisy) w->noise = zn_alloc(values);
    return w->answer && (w->noise || !noisy) ? ZENITH_OK : zn_fail_memory(err, values);
}

static void end(walk *w)
{
    zn_free(w->steps);
    zn_free(w->answer);
    zn_free(w->noise);
}

static zenith_status after(const walk *w, int number, zn_error *err)
{
    const zn_ddim_run *run = w->run;
    if (!run->stepped || run->stepped(run->cookie, number, w->x) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_CANCELLED, "stopped after step %d of %d", number + 1, run->steps);
}

static zenith_status sample(walk *w, zn_error *err)
{
    const zn_ddim_run *run = w->run;
    ZN_TRY(begin(w, run->kind == ZN_DDPM || run->eta > 0, err));
    for (int number = 0; number < run->steps; number++) {
        const int at = run->steps - 1 - number;
        ZN_TRY(run->predict(run->cookie, at, w->x, w->answer, err));
        if (run->kind == ZN_DDPM)
            step_ddpm(w, &w->steps[at], number);
        else
            step_ddim(w, &w->steps[at], number);
        ZN_TRY(after(w, number, err));
    }
    return ZENITH_OK;
}

static zenith_status invert(walk *w, zn_error *err)
{
    const zn_ddim_run *run = w->run;
    ZN_TRY(begin(w, false, err));
    for (int at = 0; at < run->steps; at++) {
        const zn_ddim_step *step = &w->steps[at];
        ZN_TRY(run->predict(run->cookie, at, w->x, w->answer, err));
        split(w, step);
        mix(w, sqrt(step->after), sqrt(1 - step->after));
        ZN_TRY(after(w, at, err));
    }
    return ZENITH_OK;
}

zenith_status zn_ddim_sample(const zn_ddim_run *run, float *x, size_t count, zn_error *err)
{
    walk w = {.run = run, .x = x, .count = count};
    zenith_status status = sample(&w, err);
    end(&w);
    return status;
}

zenith_status zn_ddim_invert(const zn_ddim_run *run, float *x, size_t count, zn_error *err)
{
    walk w = {.run = run, .x = x, .count = count};
    zenith_status status = invert(&w, err);
    end(&w);
    return status;
}

// --- between noises -----------------------------------------------------------------------------

void zn_ddim_slerp(const float *a, const float *b, double weight, float *dst, size_t count)
{
    double product = 0, of_a = 0, of_b = 0;
    for (size_t i = 0; i < count; i++) {
        product += (double)a[i] * (double)b[i];
        of_a += (double)a[i] * (double)a[i];
        of_b += (double)b[i] * (double)b[i];
    }
    const double cosine = fmin(fmax(product / sqrt(of_a * of_b), -1), 1);
    const double angle = acos(cosine), whole = sin(angle);
    double first = sin((1 - weight) * angle) / whole, second = sin(weight * angle) / whole;
    if (!(whole > 1e-6)) first = 1 - weight, second = weight; // NaN too: one is zero
    for (size_t i = 0; i < count; i++)
        dst[i] = (float)(first * (double)a[i] + second * (double)b[i]);
}
