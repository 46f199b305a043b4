// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See reload.h.
#include "apps/serve/models/reload.h"

#include "apps/serve/diffae/diffae.h"
#include "apps/serve/generate/generate.h"
#include "apps/serve/models/models.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST = SERVE_MODELS + SERVE_PIPELINES + SERVE_DIFFAES };

struct serve_reloads {
    serve_server *server;
    pthread_t thread;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t stirred;
    bool wanted, ending;
    uint64_t good[MOST], failed[MOST];
};

// --- what is served: autoencoders, pipelines and diffusion autoencoders, numbered in this order --

static size_t count_all(const serve_server *server)
{
    return server->model_count + serve_generators_count(server->generators) +
           serve_diffaes_count(server->diffaes);
}

static const char *name_of(const serve_server *server, size_t number)
{
    const size_t pipelines = serve_generators_count(server->generators);
    if (number < server->model_count) return server->model_names[number];
    number -= server->model_count;
    return number < pipelines ? serve_generators_name(server->generators, number)
                              : serve_diffaes_name(server->diffaes, number - pipelines);
}

// NULL, or why the old one stays.
static const char *reopen(serve_server *server, size_t number, zenith_context *context)
{
    const size_t pipelines = serve_generators_count(server->generators);
    if (number < server->model_count) return serve_models_reopen(server, number, context);
    number -= server->model_count;
    return number < pipelines ? serve_generators_reopen(server->generators, number)
                              : serve_diffaes_reopen(server->diffaes, number - pipelines, context);
}

// --- opening again ------------------------------------------------------------------------------

static void reload_one(serve_reloads *reloads, size_t number, zenith_context *context)
{
    serve_server *server = reloads->server;
    const char *name = name_of(server, number), *why = reopen(server, number, context);
    if (why == NULL)
        server->settings.say("%s: its files were opened again", name);
    else
        server->settings.say("%s: keeps the weights that it has: %s", name, why);
    pthread_mutex_lock(&reloads->lock);
    uint64_t *count = why == NULL ? reloads->good : reloads->failed;
    count[number]++;
    pthread_mutex_unlock(&reloads->lock);
}

// The context is gone afterwards, with the plans that estimates made in it.
static void reload_all(serve_reloads *reloads)
{
    const serve_server *server = reloads->server;
    zenith_context *context = NULL;
    const zenith_context_params machine = {.size = sizeof machine,
                                           .threads = server->settings.threads,
                                           .streams = server->settings.streams};
    const zenith_status status = zenith_context_create(&machine, &context);
    if (status != ZENITH_OK) {
        server->settings.say("no file is opened again: %s", zenith_status_text(status));
        return;
    }
    for (size_t i = 0; i < count_all(server); i++) reload_one(reloads, i, context);
    zenith_context_free(context);
}

static void *reload_when_asked(void *cookie)
{
    serve_reloads *reloads = cookie;
    pthread_mutex_lock(&reloads->lock);
    while (!reloads->ending) {
        if (!reloads->wanted) {
            pthread_cond_wait(&reloads->stirred, &reloads->lock);
            continue;
        }
        reloads->wanted = false;
        pthread_mutex_unlock(&reloads->lock);
        reload_all(reloads);
        pthread_mutex_lock(&reloads->lock);
    }
    pthread_mutex_unlock(&reloads->lock);
    return NULL;
}

serve_reloads *serve_reloads_create(serve_server *server)
{
    serve_reloads *reloads = calloc(1, sizeof *reloads);
    if (reloads == NULL) return NULL;
    reloads->server = server;
    pthread_mutex_init(&reloads->lock, NULL);
    pthread_cond_init(&reloads->stirred, NULL);
    if (pthread_create(&reloads->thread, NULL, reload_when_asked, reloads) == 0) return reloads;
    pthread_cond_destroy(&reloads->stirred);
    pthread_mutex_destroy(&reloads->lock);
    free(reloads);
    return NULL;
}

void serve_reloads_free(serve_reloads *reloads)
{
    if (reloads == NULL) return;
    pthread_mutex_lock(&reloads->lock);
    reloads->ending = true;
    pthread_cond_signal(&reloads->stirred);
    pthread_mutex_unlock(&reloads->lock);
    pthread_join(reloads->thread, NULL);
    pthread_cond_destroy(&reloads->stirred);
    pthread_mutex_destroy(&reloads->lock);
    free(reloads);
}

void serve_reloads_ask(serve_reloads *reloads)
{
    pthread_mutex_lock(&reloads->lock);
    reloads->wanted = true;
    pthread_cond_signal(&reloads->stirred);
    pthread_mutex_unlock(&reloads->lock);
}

// Names are the owner's words: a label escapes three letters.
static void put_label(FILE *out, const char *name)
{
    for (; *name != 0; name++) {
        if (*name == '"' || *name == '\\') fputc('\\', out);
        if (*name == '\n')
            fputs("\\n", out);
        else
            fputc(*name, out);
    }
}

static void put_count(FILE *out, const char *name, const char *result, uint64_t count)
{
    fputs("zenith_model_reloads_total{model=\"", out);
    put_label(out, name);
    fprintf(out, "\",result=\"%s\"} %" PRIu64 "\n", result, count);
}

void serve_reloads_write(serve_reloads *reloads, FILE *out)
{
    const serve_server *server = reloads->server;
    fprintf(out, "# HELP zenith_model_reloads_total Files of models that were opened again.\n"
                 "# TYPE zenith_model_reloads_total counter\n");
    pthread_mutex_lock(&reloads->lock);
    for (size_t i = 0; i < count_all(server); i++) {
        put_count(out, name_of(server, i), "ok", reloads->good[i]);
        put_count(out, name_of(server, i), "failed", reloads->failed[i]);
    }
    pthread_mutex_unlock(&reloads->lock);
}
