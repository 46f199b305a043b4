// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The task of training a diffusion autoencoder (model/diffae/diffae.h): encoder, modulation and
// denoiser together. A sample is a picture in -1 .. 1, a timestep drawn evenly and noise; the loss
// is the mean square of what the denoiser's noise lacks.
//
//     picture ── encoder ── code ─┐
//     time ──────────────── modulation ─┐
//     noisy ───────────────────────── denoiser ── prediction ── loss ── noise
//
// Timestep and noise are a pure function of the data's seed and the sample's number. Where the
// config names an autoencoder, "picture" is the latent of one (latent_store.h), less its mean and
// over its deviation by channel; what a person looks at is decoded first.
#ifndef ZN_TRAIN_TASKS_DIFFAE_TRAINING_H
#define ZN_TRAIN_TASKS_DIFFAE_TRAINING_H

#include "src/diffusion/ddim.h"
#include "src/model/diffae/config.h"
#include "src/train/run/task.h"
#include "src/train/tasks/diffae/latent_store.h"

enum { ZN_DIFFAE_ENCODER, ZN_DIFFAE_MODULATION, ZN_DIFFAE_DENOISER, ZN_DIFFAE_TRAINED };

// The task's own.
typedef struct zn_diffae_training {
    char *config; // config.json of what is trained
    zn_diffae_shape shape;
    zn_diffae_schedule schedule;
    zn_diffae_space space;
    zn_model *solved;          // whose encoder is used as it is, where codes are linear; else NULL
    zn_network encoder, draft; // its parts
    float code_noise;
    zn_latents *latents; // NULL: networks see pictures
    int64_t side;        // of what networks see
    float *kept, *added; // of each timestep: shares of the picture and of the noise
} zn_diffae_training;

static inline zn_ddim_betas zn_diffae_betas(const zn_diffae_schedule *schedule)
{
    return (zn_ddim_betas){schedule->timesteps, schedule->first, schedule->last};
}

// Numbers that networks see of a picture.
static inline size_t zn_diffae_values(const zn_trainer *t)
{
    const zn_diffae_training *own = t->own;
    return (size_t)(own->side * own->side * own->shape.inputs);
}

// What networks see of sample `number`, whose pixels these are.
void zn_diffae_see(const zn_trainer *t, uint64_t number, const uint8_t *pixels, float *dst);
// Then, of a sparse encoder, some of it: `picture` has room for a channel more.
void zn_diffae_see_seen(const zn_trainer *t, uint64_t number, float *picture);
// Where codes are linear, what the network need not predict at a timestep.
void zn_diffae_expect(const zn_trainer *t, int timestep, zn_sample *sample);
// Noise for the linear code of sample `number`: normal numbers times 0 .. amount.
void zn_diffae_disturb(const zn_trainer *t, uint64_t number, float amount, float *noise);
// Of held crop `index`.
void zn_diffae_see_held(const zn_trainer *t, size_t index, float *dst);

// What tasks of such models share. The schedule's shares of each timestep, made in double as the
// authors have it, kept in f32; the caller's, whatever is returned.
zenith_status zn_diffae_shares(const zn_diffae_schedule *schedule, float **kept, float **added,
                               zn_error *err);
// The model that a run begins with, of which these parts are there: the trainer's `start`, which
// stays NULL where neither the caller nor the config names one.
zenith_status zn_diffae_open_start(zn_trainer *t, const char *const *parts, zn_error *err);
// Losses of the last batch, in the place of decibels nothing: zn_train_task.add.
void zn_diffae_add(const zn_trainer *t, size_t count, double n, zn_step_facts *facts);
// A file of the results.
zenith_status zn_diffae_write_text(const char *folder, const char *name, const char *text,
                                   zn_error *err);

// Normal numbers, and one of 32 bits, for a sample of a seed.
uint32_t zn_diffae_noise(uint64_t seed, uint64_t number, float *dst, size_t count);

// What can be looked at, by walks of a few steps with the averaged weights, if there are some:
// pictures again from their code and their noise; from their code and other noise; and from their
// noise and the next picture's code. Numbers are 0 .. 1.
typedef struct zn_diffae_views {
    float *again, *other_noise, *other_code; // count pictures each
} zn_diffae_views;
zenith_status zn_diffae_look(zn_trainer *t, size_t count, zn_diffae_views *out, zn_error *err);
void zn_diffae_views_free(zn_diffae_views *views);

#endif
