// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Walks of all pictures in step, a batch of the graph without gradients for each answer of the
// network. It computes codes again in each step, which is little beside the denoiser and saves
// another graph.
#include "src/base/memory.h"
#include "src/train/tasks/diffae/training.h"

#include <string.h>

typedef struct looking {
    zn_trainer *trainer;
    size_t count, values;
    size_t donor; // the code is that of the picture so many further on
    zn_ddim_step *steps;
    const float *x; // what the network sees now
    int step;
} looking;

static zenith_status fetch(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                           zn_error *err)
{
    const looking *l = cookie;
    const size_t donor = (index + l->donor) % l->count;
    return zn_trainer_held_pixels(l->trainer, donor, pixels, number, err);
}

static void fill(const void *cookie, zn_sample *sample)
{
    const looking *l = cookie;
    float *picture = zn_sample_input(sample, "picture");
    zn_diffae_see(l->trainer, sample->number, sample->pixels, picture);
    zn_diffae_see_seen(l->trainer, sample->number, picture);
    memcpy(zn_sample_input(sample, "noisy"), l->x + sample->index * l->values,
           l->values * sizeof *l->x);
    memset(zn_sample_input(sample, "target"), 0, l->values * sizeof *l->x); // losses are not used
    *zn_sample_input(sample, "time") = (float)l->steps[l->step].timestep;
    const zn_diffae_training *own = l->trainer->own;
    zn_diffae_expect(l->trainer, l->steps[l->step].timestep, sample);
    if (own->solved) zn_diffae_disturb(l->trainer, 0, 0, zn_sample_input(sample, "code_noise"));
}

static zenith_status predict(void *cookie, int step, const float *x, float *answer, zn_error *err)
{
    looking *l = cookie;
    const zn_batch batch = {l->count, fetch, fill, l};
    l->x = x;
    l->step = step;
    return zn_batch_losses(l->trainer->runner, &batch, answer, err);
}

static zn_ddim_run run_of(looking *l)
{
    const zn_diffae_training *own = l->trainer->own;
    return (zn_ddim_run){.betas = zn_diffae_betas(&own->schedule),
                         .steps = (int)l->trainer->config.eval_steps,
                         .prediction = own->schedule.prediction,
                         .clips = own->schedule.clips,
                         .predict = predict,
                         .cookie = l};
}

// To the noise of each picture, and back in three ways.
static zenith_status walk(looking *l, zn_diffae_views *out, zn_error *err)
{
    zn_trainer *t = l->trainer;
    const size_t all = l->count * l->values;
    const zn_ddim_run run = run_of(l);
    for (size_t i = 0; i < l->count; i++) zn_diffae_see_held(t, i, out->again + i * l->values);
    ZN_TRY(zn_ddim_invert(&run, out->again, all, err));
    memcpy(out->other_code, out->again, all * sizeof(float));
    // Numbers from the end, which no sample of the run has.
    for (size_t i = 0; i < l->count; i++)
        zn_diffae_noise((uint64_t)t->config.data.seed, UINT64_MAX - i,
                        out->other_noise + i * l->values, l->values);
    ZN_TRY(zn_ddim_sample(&run, out->again, all, err));
    ZN_TRY(zn_ddim_sample(&run, out->other_noise, all, err));
    l->donor = 1;
    return zn_ddim_sample(&run, out->other_code, all, err);
}

// What networks see as pictures 0 .. 1, which of latents are another array.
static zenith_status to_pictures(const looking *l, float **x, zn_error *err)
{
    const zn_diffae_training *own = l->trainer->own;
    const zn_diffae_space *space = &own->space;
    const size_t all = l->count * l->values, channels = (size_t)own->shape.inputs;
    if (!own->latents) {
        for (size_t i = 0; i < all; i++) (*x)[i] = (*x)[i] / space->contrast * 0.5f + 0.5f;
        return ZENITH_OK;
    }
    for (size_t i = 0; i < all; i++)
        (*x)[i] = (*x)[i] * space->deviation[i % channels] + space->mean[i % channels];
    const size_t bytes = l->count * zn_trainer_sample_bytes(l->trainer) * sizeof(float);
    float *pictures = zn_alloc(bytes);
    if (!pictures) return zn_fail_memory(err, bytes);
    zenith_status status = zn_latents_decode(own->latents, l->count, *x, pictures, err);
    zn_free(*x);
    *x = pictures;
    return status;
}

static zenith_status open_views(looking *l, zn_diffae_views *out, zn_error *err)
{
    const zn_train_config *c = &l->trainer->config;
    const zn_diffae_training *own = l->trainer->own;
    const zn_ddim_betas betas = zn_diffae_betas(&own->schedule);
    const size_t all = l->count * l->values, bytes = all * sizeof(float);
    *out = (zn_diffae_views){zn_alloc(bytes), zn_alloc(bytes), zn_alloc(bytes)};
    l->steps = zn_alloc((size_t)c->eval_steps * sizeof *l->steps);
    if (!out->again || !out->other_noise || !out->other_code || !l->steps)
        return zn_fail_memory(err, bytes);
    return zn_ddim_steps(&betas, (int)c->eval_steps, l->steps, err);
}

zenith_status zn_diffae_look(zn_trainer *t, size_t count, zn_diffae_views *out, zn_error *err)
{
    const bool averaged = t->optimizer.ema;
    looking l = {.trainer = t, .count = count, .values = zn_diffae_values(t)};
    zenith_status status = open_views(&l, out, err);
    if (averaged) zn_trainer_exchange(t, t->optimizer.ema);
    if (status == ZENITH_OK) status = walk(&l, out, err);
    if (averaged) zn_trainer_exchange(t, t->optimizer.ema);
    zn_free(l.steps);
    if (status == ZENITH_OK) status = to_pictures(&l, &out->again, err);
    if (status == ZENITH_OK) status = to_pictures(&l, &out->other_noise, err);
    if (status == ZENITH_OK) status = to_pictures(&l, &out->other_code, err);
    if (status != ZENITH_OK) zn_diffae_views_free(out);
    return status;
}

void zn_diffae_views_free(zn_diffae_views *views)
{
    zn_free(views->again);
    zn_free(views->other_noise);
    zn_free(views->other_code);
    *views = (zn_diffae_views){0};
}
