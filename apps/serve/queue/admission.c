// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See admission.h.
#include "apps/serve/queue/admission.h"

#include <math.h>

bool serve_queue_hold(serve_server *server, uint64_t bytes, serve_failure *failure)
{
    pthread_mutex_lock(&server->lock);
    const bool fits = bytes <= server->settings.queue_memory - server->held;
    if (fits) server->held += bytes;
    pthread_mutex_unlock(&server->lock);
    if (!fits) serve_metrics_rejected(&server->metrics, SERVE_QUEUE_FULL);
    return fits || serve_fail(failure, 429, "queue_full",
                              "the memory for requests is taken: ask again later");
}

void serve_queue_let_go(serve_server *server, uint64_t bytes)
{
    pthread_mutex_lock(&server->lock);
    server->held -= bytes;
    pthread_mutex_unlock(&server->lock);
}

// Until the work that is there is done; streams share it.
static int whole_seconds(const serve_server *server)
{
    const double seconds = ceil(server->seconds / server->machine.streams);
    return seconds < 1 ? 1 : seconds > 600 ? 600 : (int)seconds;
}

int serve_queue_retry_after(serve_server *server)
{
    pthread_mutex_lock(&server->lock);
    const int seconds = whole_seconds(server);
    pthread_mutex_unlock(&server->lock);
    return seconds;
}

// An empty queue takes any work: what is too large for it would never be done.
bool serve_queue_enter(serve_server *server, const serve_model *model, serve_operation operation,
                       uint64_t pixels, double *seconds, int *retry_after, serve_failure *failure)
{
    pthread_mutex_lock(&server->lock);
    *seconds = model->seconds[operation] * (double)pixels;
    const double sum = (server->seconds + *seconds) / server->machine.streams;
    const bool fits = server->admitted == 0 || (server->admitted < server->settings.queue &&
                                                sum <= server->settings.queue_seconds);
    if (fits) {
        server->admitted++;
        server->seconds += *seconds;
    }
    *retry_after = whole_seconds(server);
    pthread_mutex_unlock(&server->lock);
    if (!fits) serve_metrics_rejected(&server->metrics, SERVE_QUEUE_FULL);
    return fits || serve_fail(failure, 429, "queue_full",
                              "the queue is full: ask again in %d seconds", *retry_after);
}

void serve_queue_leave(serve_server *server, double seconds)
{
    pthread_mutex_lock(&server->lock);
    server->admitted--;
    server->seconds = server->admitted ? server->seconds - seconds : 0;
    pthread_mutex_unlock(&server->lock);
}

void serve_queue_learn(serve_server *server, serve_model *model, serve_operation operation,
                       uint64_t pixels, double seconds)
{
    double *known = &model->seconds[operation];
    pthread_mutex_lock(&server->lock);
    *known = 0.9 * *known + 0.1 * seconds / (double)pixels;
    pthread_mutex_unlock(&server->lock);
}

json_t *serve_server_describe_seconds(serve_server *server, const serve_model *model)
{
    pthread_mutex_lock(&server->lock);
    const double encode = model->seconds[SERVE_ENCODE], decode = model->seconds[SERVE_DECODE];
    pthread_mutex_unlock(&server->lock);
    json_t *object = json_object();
    if (encode > 0) json_object_set_new(object, "encode", json_real(encode * 1e6));
    if (decode > 0) json_object_set_new(object, "decode", json_real(decode * 1e6));
    return object;
}

double serve_server_beside(const serve_server *server, size_t batch)
{
    const double threads = server->apart != NULL ? server->machine.threads : 1;
    return (double)batch < threads ? (double)batch : threads;
}
