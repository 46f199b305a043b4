// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a training graph for each picture of a batch, on as many pictures at once as the executor
// has streams, one thread each: a picture's maps stay in its core's caches, and memory is that of
// the pictures in work, not of the batch.
//
// Gradients are summed in the order of the pictures, whoever is done first, so that the bits do not
// depend on the number of threads. No thread keeps a gradient of its own for that: a parameter's
// gradient is added to the sum as soon as it is computed, when the picture before has added its
// own.
//
// What a sample is, and how it becomes inputs of the graph, is the task's business (task.h).
//
//     picture 0   network  losses  dw9 dw8 dw7 ...
//     picture 1      network  losses  .dw9 dw8 dw7 ...       each dw waits for the one above it,
//     picture 2         network  losses  .dw9 dw8 dw7 ...    which in the long run is there already
#ifndef ZN_TRAIN_NETWORK_BATCH_RUNNER_H
#define ZN_TRAIN_NETWORK_BATCH_RUNNER_H

#include "src/base/executor.h"
#include "src/graph/packs.h"
#include "src/train/network/train_graph.h"

typedef struct zn_batch_runner zn_batch_runner;

// graphs: with gradients, and without; they and the executor must outlive the runner. The
// executor's streams have one thread each. sample_bytes: what a sample is fetched into. most: the
// largest batch.
zenith_status zn_batch_runner_create(zn_executor *executor, const zn_cpu *cpu,
                                     const zn_train_graph *graphs[2], size_t sample_bytes,
                                     size_t most, zn_batch_runner **out, zn_error *err);
void zn_batch_runner_free(zn_batch_runner *runner); // NULL is fine

// The trained parameters in these bytes have changed.
void zn_batch_runner_changed(zn_batch_runner *runner, const void *begin, size_t bytes);

// A number of the graphs, where they have it, from now on; 1 at first.
void zn_batch_runner_set(zn_batch_runner *runner, zn_train_scalar which, float value);

// Gives sample `index` of the batch: its bytes, and the number that it has in the run, by which all
// that is random about it is made. Called on the executor's threads, one call at a time, indices in
// order.
typedef zenith_status zn_batch_fetch_fn(void *cookie, size_t index, uint8_t *pixels,
                                        uint64_t *number, zn_error *err);

typedef struct zn_sample {
    uint64_t number;
    size_t index; // in the batch
    const uint8_t *pixels;
    const zn_train_graph *graph;
    float *const *inputs;            // of the graph, whole
    float scalars[ZN_TRAIN_SCALARS]; // as they were set for all
} zn_sample;
float *zn_sample_input(const zn_sample *sample, const char *name); // NULL: the graph has none such

// Fills the sample's inputs, and scalars that are its own. Called on the executor's threads,
// several at once.
typedef void zn_batch_fill_fn(const void *cookie, zn_sample *sample);

typedef struct zn_batch {
    size_t count; // of samples
    zn_batch_fetch_fn *fetch;
    zn_batch_fill_fn *fill;
    void *cookie;
} zn_batch;

// Losses of the samples, and the sum of their gradients into `gradient`, a flat block by the
// parameters' places.
zenith_status zn_batch_gradients(zn_batch_runner *runner, const zn_batch *batch, float *gradient,
                                 zn_error *err);
// Losses alone, and the graph's results one after the other, unless NULL.
zenith_status zn_batch_losses(zn_batch_runner *runner, const zn_batch *batch, float *results,
                              zn_error *err);

// Of the last batch, the numbers of one sample, in the order of train_graph.h.
const float *zn_batch_numbers(const zn_batch_runner *runner, size_t index);

#endif
