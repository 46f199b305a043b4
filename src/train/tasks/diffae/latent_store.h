// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Latents of the run's pictures, for tasks that are trained on those: made once by a frozen
// encoder, and kept in the run's folder as f16, mapped from there. A resumed run finds them by a
// key of all that decides them (the encoder's weights, the pictures, the crops). Latents of the
// held crops are made anew at each start.
//
// The store has the first samples of the data: one of each picture, or two where crops are mirrored
// at random. After those, samples begin again in another order: crops and mirrors are no others
// then.
#ifndef ZN_TRAIN_TASKS_DIFFAE_LATENT_STORE_H
#define ZN_TRAIN_TASKS_DIFFAE_LATENT_STORE_H

#include "src/train/run/parts.h"

typedef struct zn_latents zn_latents;

// The trainer, which outlives them, has its data, held crops, executor and frozen networks. May
// take minutes, which the trainer's cancel ends.
zenith_status zn_latents_open(zn_trainer *t, zn_latents **out, zn_error *err);
void zn_latents_free(zn_latents *latents); // NULL is fine

// Numbers of a latent [height, width, channels].
// That of sample `number`; held crops count down from UINT64_MAX. For any number of threads.
void zn_latents_get(const zn_latents *latents, uint64_t number, float *dst);

// A frozen network from one map to another, on its own graph and runner, which the caller releases;
// and what a decoder makes of latents: numbers of pictures 0 .. 1.
zenith_status zn_frozen_open(const zn_trainer *t, const zn_network *network, zn_shape input,
                             size_t sample_bytes, size_t most, zn_train_graph *graph,
                             zn_batch_runner **runner, zn_error *err);
zenith_status zn_frozen_decode(zn_batch_runner *runner, size_t count, const float *src,
                               size_t values, float *pictures, zn_error *err);

// Mean and deviation of each channel, of the first some hundreds.
void zn_latents_statistics(const zn_latents *latents, float *mean, float *deviation);

// Pictures 0 .. 1 of latents by the frozen decoder, at most as many as there are held crops.
zenith_status zn_latents_decode(zn_latents *latents, size_t count, const float *src,
                                float *pictures, zn_error *err);

#endif
