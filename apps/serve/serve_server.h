// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The server: its models, and its queue, which is bounded by requests, by estimated seconds of work, and by bytes of
// bodies and results. The queue decides what gets in, serve_turns.h what is worked next; the library's own queue
// holds no more than that.
#ifndef ZN_SERVE_SERVER_H
#define ZN_SERVE_SERVER_H

#include "apps/serve/serve.h"
#include "apps/serve/serve_clock.h"
#include "apps/serve/serve_estimates.h"
#include "apps/serve/serve_keys.h"
#include "apps/serve/serve_metrics.h"
#include "apps/serve/serve_turns.h"

#include <stdatomic.h>

enum { SERVE_CLASSES = 2 }; // of sizes of pictures that may be worked together

typedef struct serve_model serve_model; // serve_models.h

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
    struct serve_task *working; // with work under way
    int present;                // requests whose headers are here
    int admitted;               // that have work
    double seconds;             // of their work
    uint64_t held;              // bytes
} serve_server;

// Opens the models and measures each once. The exit code, after a message; 0: it is open.
int serve_server_open(serve_server *server, const serve_settings *settings);
void serve_server_close(serve_server *server);

// Takes or gives back bytes; false: there is no room.
bool serve_queue_hold(serve_server *server, uint64_t bytes, serve_failure *failure);
void serve_queue_let_go(serve_server *server, uint64_t bytes);
// Admits a request with so many pixels of work; *seconds is what that will take, for _leave. false: the queue is
// full, and *retry_after says when to ask again.
bool serve_queue_enter(serve_server *server, const serve_model *model, serve_operation operation,
                       uint64_t pixels, double *seconds, int *retry_after, serve_failure *failure);
void serve_queue_leave(serve_server *server, double seconds);
// What work has taken.
void serve_queue_learn(serve_server *server, serve_model *model, serve_operation operation,
                       uint64_t pixels, double seconds);
int serve_queue_retry_after(serve_server *server);
// {"encode": seconds, "decode": seconds} of a million pixels, as known by now.
json_t *serve_server_describe_seconds(serve_server *server, const serve_model *model);

// How many pictures of a batch share the threads of a stream: the work of each takes so much less of it.
double serve_server_beside(const serve_server *server, size_t batch);

#endif
