// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See serve_server.h.
#include "apps/serve/serve_server.h"

#include "apps/serve/serve_generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROBE_SIDE = 256 };

double serve_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// --- the queue ----------------------------------------------------------------------------------

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

void serve_queue_learn(serve_server *server, size_t model, serve_operation operation,
                       uint64_t pixels, double seconds)
{
    double *known = &server->models[model].seconds[operation];
    pthread_mutex_lock(&server->lock);
    *known = 0.9 * *known + 0.1 * seconds / (double)pixels;
    pthread_mutex_unlock(&server->lock);
}

// --- models -------------------------------------------------------------------------------------

const serve_model *serve_server_model(const serve_server *server, const char *name, size_t length)
{
    for (size_t i = 0; i < server->model_count; i++) {
        const char *each = server->models[i].info.name;
        if (strlen(each) == length && memcmp(each, name, length) == 0) return &server->models[i];
    }
    return NULL;
}

// Runs one picture twice: the first time packs the weights, the second tells how long the part takes here.
static zenith_status measure(serve_server *server, const serve_model *m, unsigned part, double *out)
{
    const uint32_t side = PROBE_SIDE / m->info.factor;
    zenith_latent latent = {
        .size = sizeof latent, .width = side, .height = side, .channels = m->info.latent_channels};
    zenith_image image = {.size = sizeof image, .width = PROBE_SIDE, .height = PROBE_SIDE};
    zenith_run_facts facts = {.size = sizeof facts};
    const zenith_run_params run = {.size = sizeof run,
                                   .dtype = (zenith_dtype)server->settings.dtype,
                                   .max_memory = server->settings.max_memory,
                                   .facts = &facts};
    latent.data = calloc((size_t)side * side * latent.channels, sizeof(float));
    image.data = calloc(PROBE_SIDE * PROBE_SIDE, 3);
    zenith_status status = latent.data && image.data ? ZENITH_OK : ZENITH_OUT_OF_MEMORY;
    for (int i = 0; i < 2 && status == ZENITH_OK; i++)
        status = part == ZENITH_DECODER
                     ? zenith_decode(server->context, m->model, &latent, &image, 1, &run)
                     : zenith_encode(server->context, m->model, &image, &latent, 1, &run);
    free(latent.data);
    free(image.data);
    *out = facts.seconds / (PROBE_SIDE * PROBE_SIDE);
    return status;
}

static zenith_status measure_parts(serve_server *server, serve_model *m)
{
    zenith_status status = ZENITH_OK;
    if (m->info.parts & ZENITH_ENCODER)
        status = measure(server, m, ZENITH_ENCODER, &m->seconds[SERVE_ENCODE]);
    if (status == ZENITH_OK && m->info.parts & ZENITH_DECODER)
        status = measure(server, m, ZENITH_DECODER, &m->seconds[SERVE_DECODE]);
    m->seconds[SERVE_RECONSTRUCT] = m->seconds[SERVE_ENCODE] + m->seconds[SERVE_DECODE];
    return status;
}

static bool open_model(serve_server *server, const char *word)
{
    char name[64];
    serve_model *m = &server->models[server->model_count];
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const char *weights = equals ? equals + 1 : server->settings.weights;
    if (server->model_count == SERVE_MODELS || length >= sizeof name || length == 0 ||
        serve_server_model(server, word, length) != NULL) {
        server->settings.say(
            "'%s' cannot be served: a model is named once, and there are at most %d", word,
            SERVE_MODELS);
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const zenith_model_params params = {.size = sizeof params, .name = name, .weights = weights};
    zenith_status status = zenith_model_open(server->context, &params, &m->model);
    if (status == ZENITH_OK) {
        server->model_count++;
        m->info = (zenith_model_info){.size = sizeof m->info};
        zenith_model_get_info(m->model, &m->info);
        server->model_names[server->model_count - 1] = m->info.name;
        status = measure_parts(server, m);
    }
    if (status == ZENITH_OK) return true;
    server->settings.say("%s: %s", name, zenith_context_error(server->context));
    return false;
}

static bool open_pipeline(serve_server *server, const char *word)
{
    if (server->generators == NULL)
        server->generators = serve_generators_create(&server->settings, server->context);
    if (server->generators == NULL) server->settings.say("out of memory");
    return server->generators != NULL && serve_generators_add(server->generators, word);
}

// --- opening and closing ------------------------------------------------------------------------

static void fill_settings(serve_settings *settings)
{
    if (settings->host == NULL) settings->host = "127.0.0.1";
    if (settings->queue == 0) settings->queue = 64;
    if (settings->queue_seconds == 0) settings->queue_seconds = 30;
    if (settings->queue_memory == 0) settings->queue_memory = 1ull << 30;
    if (settings->max_body == 0) settings->max_body = 32ull << 20;
    if (settings->max_pixels == 0) settings->max_pixels = 1ull << 24;
}

int serve_server_open(serve_server *server, const serve_settings *settings)
{
    const char *why;
    struct timespec now;
    memset(server, 0, sizeof *server);
    clock_gettime(CLOCK_REALTIME, &now);
    server->started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    pthread_mutex_init(&server->lock, NULL);
    pthread_mutex_init(&server->metrics.lock, NULL);
    server->settings = *settings;
    fill_settings(&server->settings);
    if (settings->keys != NULL && !serve_keys_read(&server->keys, settings->keys, &why)) {
        settings->say("the keys '%s' cannot be used: %s", settings->keys, why);
        return 1;
    }
    const zenith_context_params machine = {
        .size = sizeof machine, .threads = settings->threads, .streams = settings->streams};
    zenith_status status = zenith_context_create(&machine, &server->context);
    if (status != ZENITH_OK) {
        settings->say("cannot start: %s", zenith_status_text(status));
        return 1;
    }
    server->machine = (zenith_machine_info){.size = sizeof server->machine};
    zenith_context_get_machine(server->context, &server->machine);
    for (size_t i = 0; i < settings->model_count; i++)
        if (serve_is_pipeline(settings->models[i]) ? !open_pipeline(server, settings->models[i])
                                                   : !open_model(server, settings->models[i]))
            return 3;
    return 0;
}

void serve_server_close(serve_server *server)
{
    serve_generators_free(server->generators);
    for (size_t i = 0; i < server->model_count; i++) zenith_model_free(server->models[i].model);
    zenith_context_free(server->context);
    serve_keys_free(&server->keys);
    pthread_mutex_destroy(&server->metrics.lock);
    pthread_mutex_destroy(&server->lock);
}
