// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files behind generate.h share: pipelines.c opens pipelines, generation.c is one request,
// make.c makes its pictures, generate.c is the queue and the thread that works it.
//
// Previews are decoded by a context of their own: a call on the generating context would wait for
// itself.
#ifndef ZN_SERVE_GENERATE_GENERATORS_H
#define ZN_SERVE_GENERATE_GENERATORS_H

#include "apps/serve/generate/generate.h"
#include "apps/serve/queue/line.h"

#include <stdatomic.h>

// One that was replaced is freed when the last request that holds it is over: as an errand of the
// line, because the context that computes is the line's.
typedef struct serve_pipeline {
    serve_errand retirement;
    serve_generators *all;
    int held; // by the list and by requests; of the line's lock
    const char *name;
    zenith_generator *generator;
    zenith_generator_info info;
    zenith_model *decoder, *preview, *encoder; // NULL: there is no encoder
    zenith_model_info decoder_info;
} serve_pipeline;

struct serve_generators {
    serve_settings settings;
    zenith_context *reading;              // the server's
    zenith_context *context, *previewing; // of the thread, and of previews
    char names[SERVE_PIPELINES][64];
    const char *words[SERVE_PIPELINES]; // of the command line
    size_t count;
    serve_line line; // its lock is that of what follows
    serve_pipeline *list[SERVE_PIPELINES];
    size_t chosen;
    int admitted; // that wait or run
    double rate;  // seconds for a step of a pixel, as measured; 0: not yet
    double work;  // steps of pixels that are admitted
    uint64_t pictures, steps;
    double seconds;
};

struct serve_generation {
    serve_errand errand;
    serve_generators *all;
    serve_pipeline *with;
    serve_wish wish;
    int kind;
    void (*event)(serve_generation *generation, const serve_event *event);
    zenith_source *source; // of the picture to begin with
    float *latent, *first; // the second: of that picture
    zenith_bytes *pictures[SERVE_MOST_PICTURES], *preview;
    char *texts[SERVE_MOST_PICTURES];
    uint32_t made;
    uint32_t step, steps, partial; // of the lock of `all`
    atomic_bool interrupted;
    pthread_mutex_t lock; // of what follows
    char *said;
    size_t said_size, said_read;
    bool last, sleeping;
    char *kept;
    unsigned kept_number; // from 1; 0: nothing is kept
    void (*wake)(void *cookie);
    void *wake_cookie;
};

// The pipeline as it is now, until it is left.
serve_pipeline *serve_pipeline_hold(serve_generators *all, size_t index);
void serve_pipeline_leave(serve_pipeline *pipeline);
void serve_pipeline_free(serve_pipeline *pipeline); // at once: nothing runs any more. NULL is fine

// Steps of pixels, all pictures together.
double serve_generation_work(const serve_generation *generation);
size_t serve_generation_latent_bytes(const serve_generation *generation);
// Of the errand: makes the pictures; `failure` says why not all are there.
void serve_generation_make(serve_errand *errand);
double serve_generation_left(const serve_errand *errand);
// A place in the queue; serve_generation_free leaves it.
bool serve_generators_enter(serve_generators *all, serve_generation *generation, int *retry_after,
                            serve_failure *failure);
void serve_generators_leave(serve_generators *all, const serve_generation *generation);

#endif
