// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The server, as all parts of it see it: start.h opens it, admission.h decides what gets in.
#ifndef ZN_SERVE_QUEUE_SERVER_H
#define ZN_SERVE_QUEUE_SERVER_H

#include "apps/serve/http/clock.h"
#include "apps/serve/http/keys.h"
#include "apps/serve/metrics/metrics.h"
#include "apps/serve/models/estimates.h"
#include "apps/serve/queue/turns.h"
#include "apps/serve/settings.h"

#include <stdatomic.h>

enum { SERVE_CLASSES = 2 }; // of sizes of pictures that may be worked together

typedef struct serve_model serve_model; // models/models.h

typedef struct serve_server {
    serve_settings settings; // with defaults filled in
    zenith_context *context;
    zenith_context
        *apart; // as many threads, each a stream: for batches; NULL: batches have no use for it
    zenith_machine_info machine;
    serve_turns turns;
    const char *model_names[SERVE_MODELS + 1];
    const char *model_words[SERVE_MODELS]; // of the command line
    size_t model_count;
    struct serve_generators *generators; // NULL: no pipeline is served
    struct serve_diffaes *diffaes;       // NULL: no diffusion autoencoder is
    serve_keys keys;
    serve_metrics metrics;
    double started; // seconds since 1970
    atomic_bool draining;
    atomic_uint_least64_t ids;
    struct serve_jobs *jobs;
    struct serve_reloads *reloads;
    pthread_mutex_t listening; // of what follows
    struct serve_listener *listeners;
    pthread_mutex_t lock; // of what follows
    serve_model *models[SERVE_MODELS];
    struct serve_task *working;    // with work under way
    struct serve_request *reading; // whose bodies are not whole
    int present;                   // requests whose headers are here
    int admitted;                  // that have work
    double seconds;                // of their work
    uint64_t held;                 // bytes
} serve_server;

#endif
