// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See models.h.
#include "apps/serve/models/models.h"

#include "apps/serve/models/probe.h"

#include <stdlib.h>
#include <string.h>

serve_model *serve_model_ref(serve_model *model)
{
    atomic_fetch_add(&model->references, 1);
    return model;
}

void serve_model_unref(serve_model *model)
{
    if (model == NULL || atomic_fetch_sub(&model->references, 1) > 1) return;
    zenith_model_free(model->model);
    free(model);
}

serve_model *serve_models_get(serve_server *server, size_t number)
{
    pthread_mutex_lock(&server->lock);
    serve_model *model = number < server->model_count ? serve_model_ref(server->models[number])
                                                      : NULL;
    pthread_mutex_unlock(&server->lock);
    return model;
}

serve_model *serve_models_find(serve_server *server, const char *name, size_t length)
{
    for (size_t i = 0; i < server->model_count; i++) {
        const char *each = server->model_names[i];
        if (strlen(each) == length && memcmp(each, name, length) == 0)
            return serve_models_get(server, i);
    }
    return NULL;
}

// --- opening ------------------------------------------------------------------------------------

// Where a word has no weights, those of the server's settings are its.
static zenith_status open_word(const serve_server *server, zenith_context *context,
                               const char *word, serve_model **out)
{
    char name[64];
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    serve_model *m = calloc(1, sizeof *m);
    if (m == NULL) return ZENITH_OUT_OF_MEMORY;
    atomic_init(&m->references, 1);
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const zenith_model_params params = {.size = sizeof params,
                                        .name = name,
                                        .weights = equals ? equals + 1 : server->settings.weights};
    zenith_status status = zenith_model_open(context, &params, &m->model);
    if (status != ZENITH_OK) {
        free(m);
        return status;
    }
    m->info = (zenith_model_info){.size = sizeof m->info};
    zenith_model_get_info(m->model, &m->info);
    *out = m;
    return ZENITH_OK;
}

static void estimate(const serve_server *server, zenith_context *context, serve_model *m)
{
    const zenith_run_params run = {.size = sizeof run,
                                   .dtype = (zenith_dtype)server->settings.dtype,
                                   .max_memory = server->settings.max_memory};
    serve_estimates_fill(&m->estimates, context, m->model, &m->info, &run);
}

static bool is_taken(const serve_server *server, const char *word, size_t length)
{
    for (size_t i = 0; i < server->model_count; i++)
        if (strlen(server->model_names[i]) == length &&
            memcmp(server->model_names[i], word, length) == 0)
            return true;
    return false;
}

bool serve_models_open(serve_server *server, const char *word)
{
    serve_model *m = NULL;
    const size_t length = strcspn(word, "=");
    if (server->model_count == SERVE_MODELS || length >= 64 || length == 0 ||
        is_taken(server, word, length)) {
        server->settings.say(
            "'%s' cannot be served: a model is named once, and there are at most %d", word,
            SERVE_MODELS);
        return false;
    }
    zenith_status status = open_word(server, server->context, word, &m);
    if (status == ZENITH_OK) {
        m->number = server->model_count++;
        server->models[m->number] = m;
        server->model_names[m->number] = m->info.name; // of the library's own table
        server->model_words[m->number] = word;
        status = serve_probe(server, m);
        estimate(server, server->context, m);
    }
    if (status == ZENITH_OK) return true;
    server->settings.say("%.*s: %s", (int)length, word, zenith_context_error(server->context));
    return false;
}

void serve_models_close(serve_server *server)
{
    for (size_t i = 0; i < server->model_count; i++) serve_model_unref(server->models[i]);
}

// --- opening again ------------------------------------------------------------------------------

// Requests know the old one's shapes: what is another kind of model cannot stand for it.
static const char *compare(const serve_model *old, const serve_model *m)
{
    if (strcmp(m->info.name, old->info.name) != 0 || m->info.factor != old->info.factor ||
        m->info.latent_channels != old->info.latent_channels)
        return "the file holds another model";
    if ((m->info.parts & old->info.parts) != old->info.parts)
        return "the encoder or the decoder is not there any more";
    return serve_estimates_types(&m->estimates) != 0 ? NULL : "it cannot be computed here";
}

// What was measured of the old one holds for the new one. Learning goes on there.
static void replace(serve_server *server, serve_model *m)
{
    pthread_mutex_lock(&server->lock);
    serve_model *old = server->models[m->number];
    memcpy(m->seconds, old->seconds, sizeof m->seconds);
    memcpy(m->pays, old->pays, sizeof m->pays);
    server->models[m->number] = m;
    pthread_mutex_unlock(&server->lock);
    serve_model_unref(old);
}

const char *serve_models_reopen(serve_server *server, size_t number, zenith_context *context)
{
    serve_model *m = NULL;
    if (open_word(server, context, server->model_words[number], &m) != ZENITH_OK)
        return zenith_context_error(context);
    m->number = number;
    estimate(server, context, m);
    serve_model *old = serve_models_get(server, number);
    const char *why = compare(old, m);
    serve_model_unref(old);
    if (why == NULL)
        replace(server, m);
    else
        serve_model_unref(m);
    return why;
}
