// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See start.h.
#include "apps/serve/start.h"

#include "apps/serve/diffae/diffae.h"
#include "apps/serve/generate/generate.h"
#include "apps/serve/models/models.h"
#include "apps/serve/models/reload.h"
#include "apps/serve/queue/jobs.h"

#include <string.h>
#include <time.h>

enum { PLANS_OF_A_THREAD = 32 << 20 }; // bytes

static bool open_pipeline(serve_server *server, const char *word)
{
    if (server->generators == NULL)
        server->generators = serve_generators_create(&server->settings, server->context);
    if (server->generators == NULL) server->settings.say("out of memory");
    return server->generators != NULL && serve_generators_add(server->generators, word);
}

static void fill_settings(serve_settings *settings)
{
    if (settings->host == NULL) settings->host = "127.0.0.1";
    if (settings->queue == 0) settings->queue = 64;
    if (settings->queue_seconds == 0) settings->queue_seconds = 30;
    if (settings->queue_memory == 0) settings->queue_memory = 1ull << 30;
    if (settings->max_body == 0) settings->max_body = 32ull << 20;
    if (settings->jobs == 0) settings->jobs = 64;
    if (settings->job_seconds == 0) settings->job_seconds = 600;
    if (settings->job_memory == 0) settings->job_memory = 256ull << 20;
    if (settings->max_pixels == 0) settings->max_pixels = 1ull << 24;
}

static void note_batch(void *cookie, const serve_turn *lead, size_t count)
{
    serve_server *server = cookie;
    serve_metrics_batch(&server->metrics, lead->key.model, (serve_operation)lead->key.operation,
                        count);
}

// Threads for pictures, and threads for batches, which have the same cores: a slot uses one or the
// other.
static zenith_status open_contexts(serve_server *server)
{
    const serve_settings *settings = &server->settings;
    const zenith_context_params whole = {
        .size = sizeof whole, .threads = settings->threads, .streams = settings->streams};
    zenith_status status = zenith_context_create(&whole, &server->context);
    if (status != ZENITH_OK) return status;
    server->machine = (zenith_machine_info){.size = sizeof server->machine};
    zenith_context_get_machine(server->context, &server->machine);
    if (settings->batch == 1 || server->machine.threads == 1) return ZENITH_OK;
    const int all = server->machine.threads * server->machine.streams;
    const zenith_context_params apart = {.size = sizeof apart,
                                         .threads = 1,
                                         .streams = all,
                                         .plan_memory = (uint64_t)all * PLANS_OF_A_THREAD};
    return zenith_context_create(&apart, &server->apart);
}

static bool open_turns(serve_server *server)
{
    const serve_settings *settings = &server->settings;
    server->turns = (serve_turns){.clock = serve_clock,
                                  .usual = settings->queue_seconds,
                                  .delay = settings->batch_delay * 1e-3,
                                  .note = note_batch,
                                  .cookie = server};
    return serve_turns_open(&server->turns, (size_t)server->machine.streams);
}

static bool open_word(serve_server *server, const char *word)
{
    bool is_diffae;
    if (serve_is_pipeline(word)) return open_pipeline(server, word);
    if (!serve_diffaes_add(&server->diffaes, &server->settings, server->context, word, &is_diffae))
        return false;
    return is_diffae || serve_models_open(server, word);
}

static bool open_words(serve_server *server)
{
    const serve_settings *settings = &server->settings;
    size_t opened = 0;
    for (size_t i = 0; i < settings->model_count; i++) {
        const bool good = open_word(server, settings->models[i]);
        if (!good && !settings->bundled) return false;
        opened += good;
    }
    return opened > 0;
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
    pthread_mutex_init(&server->keys.lock, NULL);
    pthread_mutex_init(&server->listening, NULL);
    server->settings = *settings;
    fill_settings(&server->settings);
    if (settings->keys != NULL && !serve_keys_read(&server->keys, settings->keys, &why)) {
        settings->say("the keys '%s' cannot be used: %s", settings->keys, why);
        return 1;
    }
    zenith_status status = open_contexts(server);
    server->jobs = serve_jobs_create(&server->settings);
    if (status == ZENITH_OK && (server->jobs == NULL || !open_turns(server)))
        status = ZENITH_OUT_OF_MEMORY;
    if (status != ZENITH_OK) {
        settings->say("cannot start: %s", zenith_status_text(status));
        return 1;
    }
    if (!open_words(server)) return 3;
    server->reloads = serve_reloads_create(server);
    if (server->reloads == NULL) settings->say("cannot start: out of memory");
    return server->reloads != NULL ? 0 : 1;
}

void serve_server_close(serve_server *server)
{
    serve_reloads_free(server->reloads);
    serve_jobs_free(server->jobs);
    serve_generators_free(server->generators);
    serve_diffaes_free(server->diffaes);
    serve_models_close(server);
    serve_turns_close(&server->turns);
    zenith_context_free(server->apart);
    zenith_context_free(server->context);
    serve_keys_free(&server->keys);
    pthread_mutex_destroy(&server->listening);
    pthread_mutex_destroy(&server->metrics.lock);
    pthread_mutex_destroy(&server->lock);
}
