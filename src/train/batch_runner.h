// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a training graph for each picture of a batch, on as many pictures at once as the executor has
// streams, one thread each: a picture's maps stay in its core's caches, and memory is that of the
// pictures in work, not of the batch.
//
// Gradients are summed in the order of the pictures, whoever is done first, so that the bits do not
// depend on the number of threads. No thread keeps a gradient of its own for that: a parameter's
// gradient is added to the sum as soon as it is computed, when the picture before has added its own.
//
// What the network sees is the picture, or what corrupt.h makes of it.
//
//     picture 0   network  losses  dw9 dw8 dw7 ...
//     picture 1      network  losses  .dw9 dw8 dw7 ...       each dw waits for the one above it,
//     picture 2         network  losses  .dw9 dw8 dw7 ...    which in the long run is there already
#ifndef ZN_TRAIN_BATCH_RUNNER_H
#define ZN_TRAIN_BATCH_RUNNER_H

#include "src/base/executor.h"
#include "src/graph/packs.h"
#include "src/train/train_graph.h"

typedef struct zn_batch_runner zn_batch_runner;

// graphs: with gradients, and without; they and the executor must outlive the runner. The executor's
// streams have one thread each. most: the largest batch. corruption: what the graphs were made for.
zenith_status zn_batch_runner_create(zn_executor *executor, const zn_cpu *cpu,
                                     const zn_train_graph *graphs[2],
                                     const zn_corruption *corruption, int64_t crop, size_t most,
                                     zn_batch_runner **out, zn_error *err);
void zn_batch_runner_free(zn_batch_runner *runner); // NULL is fine

// The trained parameters in these bytes have changed.
void zn_batch_runner_changed(zn_batch_runner *runner, const void *begin, size_t bytes);

// A number of the graphs, where they have it, from now on; 1 at first.
void zn_batch_runner_set(zn_batch_runner *runner, zn_train_scalar which, float value);

// Gives picture `index` of the batch: crop * crop * 3 bytes, and the number of the sample that it is,
// by which it is spoiled and a latent is sampled. Called on the executor's threads, one
// call at a time, indices in order.
typedef zenith_status zn_batch_pixels_fn(void *cookie, size_t index, uint8_t *pixels,
                                         uint64_t *number, zn_error *err);

// Losses of `count` pictures, and the sum of their gradients into `gradient`, a flat block by the
// parameters' places.
zenith_status zn_batch_gradients(zn_batch_runner *runner, size_t count, zn_batch_pixels_fn *pixels,
                                 void *cookie, float *gradient, zn_error *err);
// Losses alone, and the reconstructions, crop * crop * 3 floats each, unless NULL.
zenith_status zn_batch_losses(zn_batch_runner *runner, size_t count, zn_batch_pixels_fn *pixels,
                              void *cookie, float *reconstructions, zn_error *err);

// Of the last batch, the numbers of one picture: the loss, each loss, the mean square error,
// the discriminator's loss.
const float *zn_batch_numbers(const zn_batch_runner *runner, size_t index);
size_t zn_batch_memory(const zn_batch_runner *runner); // bytes of working memory and packed weights

#endif
