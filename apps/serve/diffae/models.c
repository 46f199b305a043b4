// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See diffae.h: the models that are served.
#include "apps/serve/diffae/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static serve_diffaes *create(const serve_settings *settings, zenith_context *context)
{
    serve_diffaes *all = calloc(1, sizeof *all);
    const zenith_context_params machine = {.size = sizeof machine, .threads = settings->threads};
    if (all == NULL) return NULL;
    all->settings = *settings;
    all->reading = context;
    if (serve_line_open(&all->line) && zenith_context_create(&machine, &all->context) == ZENITH_OK)
        return all;
    serve_diffaes_free(all);
    return NULL;
}

void serve_diffaes_free(serve_diffaes *all)
{
    if (all == NULL) return;
    serve_line_end(&all->line);
    for (size_t i = 0; i < all->count; i++) serve_diffae_model_leave(all->list[i]);
    zenith_context_free(all->context);
    serve_line_close(&all->line);
    free(all);
}

// --- one model ----------------------------------------------------------------------------------

// A file of its own is opened by the family's name, one that is searched for by its own. NULL: it
// is none, or the context says why.
static serve_diffae_model *open_model(const serve_settings *settings, zenith_context *context,
                                      const char *word)
{
    const char *equals = strchr(word, '=');
    serve_diffae_model *m = calloc(1, sizeof *m);
    if (m == NULL) return NULL;
    *m = (serve_diffae_model){.held = 1, .word = word, .info = {.size = sizeof m->info}};
    snprintf(m->name, sizeof m->name, "%.*s", (int)strcspn(word, "="), word);
    const zenith_model_params params = {.size = sizeof params,
                                        .name = equals ? "diffae" : m->name,
                                        .weights = equals ? equals + 1 : settings->weights};
    if (zenith_model_open(context, &params, &m->model) == ZENITH_OK &&
        zenith_diffae_get_info(context, m->model, &m->info) == ZENITH_OK)
        return m;
    zenith_model_free(m->model);
    free(m);
    return NULL;
}

serve_diffae_model *serve_diffae_model_hold(serve_diffaes *all, size_t index)
{
    pthread_mutex_lock(&all->line.lock);
    serve_diffae_model *m = all->list[index];
    m->held++;
    pthread_mutex_unlock(&all->line.lock);
    return m;
}

void serve_diffae_model_leave(serve_diffae_model *m)
{
    if (m == NULL) return;
    pthread_mutex_lock(&m->all->line.lock);
    const bool last = --m->held == 0;
    pthread_mutex_unlock(&m->all->line.lock);
    if (!last) return;
    zenith_model_free(m->model);
    free(m);
}

// --- all of them --------------------------------------------------------------------------------

static bool is_taken(const serve_diffaes *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0) return true;
    return false;
}

static void add(serve_diffaes *all, serve_diffae_model *m)
{
    m->all = all;
    memcpy(all->names[all->count], m->name, sizeof m->name);
    all->list[all->count++] = m;
}

bool serve_diffaes_add(serve_diffaes **all, const serve_settings *settings, zenith_context *context,
                       const char *word, bool *is)
{
    serve_diffae_model *m = strcspn(word, "=") < sizeof m->name
                                ? open_model(settings, context, word)
                                : NULL;
    *is = m != NULL;
    if (m == NULL) return true;
    if (*all == NULL) *all = create(settings, context);
    if (*all != NULL && (*all)->count < SERVE_DIFFAES && !is_taken(*all, m->name)) {
        add(*all, m);
        return true;
    }
    zenith_model_free(m->model);
    free(m);
    settings->say(*all == NULL ? "out of memory: %s cannot be served"
                               : "'%s' cannot be served: a model is named once, and there are at "
                                 "most 8 diffusion autoencoders",
                  word);
    return false;
}

const char *serve_diffaes_reopen(serve_diffaes *all, size_t index, zenith_context *context)
{
    serve_diffae_model *old = serve_diffae_model_hold(all, index);
    serve_diffae_model *m = open_model(&all->settings, context, old->word);
    serve_diffae_model_leave(old);
    if (m == NULL) return zenith_context_error(context);
    m->all = all;
    pthread_mutex_lock(&all->line.lock);
    old = all->list[index];
    all->list[index] = m;
    pthread_mutex_unlock(&all->line.lock);
    serve_diffae_model_leave(old);
    return NULL;
}

size_t serve_diffaes_count(const serve_diffaes *all)
{
    return all != NULL ? all->count : 0;
}

const char *serve_diffaes_name(const serve_diffaes *all, size_t index)
{
    return all->names[index];
}

json_t *serve_diffaes_describe(serve_diffaes *all, size_t index, double created)
{
    serve_diffae_model *m = serve_diffae_model_hold(all, index);
    json_t *attributes = json_array();
    for (uint32_t i = 0; i < m->info.attributes; i++) {
        const char *name = zenith_diffae_attribute(m->model, i);
        json_array_append_new(attributes, name != NULL ? json_string(name) : json_sprintf("%u", i));
    }
    json_t *object = json_pack("{s:s, s:s, s:I, s:s, s:s, s:b, s:b, s:I, s:I, s:I, s:o}", "id",
                               m->name, "object", "model", "created", (json_int_t)created,
                               "owned_by", "zenith", "description", "diffusion autoencoder",
                               "diffae", true, "sample", (int)m->info.has_prior, "width",
                               (json_int_t)m->info.width, "height", (json_int_t)m->info.height,
                               "numbers", (json_int_t)m->info.numbers, "attributes", attributes);
    serve_diffae_model_leave(m);
    return object;
}

void serve_diffaes_write(serve_diffaes *all, FILE *out)
{
    if (all == NULL) return;
    pthread_mutex_lock(&all->line.lock);
    fprintf(out,
            "# HELP zenith_diffae_steps_total Steps of diffusion autoencoders.\n"
            "# TYPE zenith_diffae_steps_total counter\n"
            "zenith_diffae_steps_total %" PRIu64 "\n"
            "# HELP zenith_diffae_given_up_total Requests for them that failed or were given up.\n"
            "# TYPE zenith_diffae_given_up_total counter\n"
            "zenith_diffae_given_up_total %" PRIu64 "\n"
            "# HELP zenith_diffae_requests Requests for them that wait or are worked.\n"
            "# TYPE zenith_diffae_requests gauge\n"
            "zenith_diffae_requests %d\n",
            all->steps, all->line.given_up, all->admitted);
    pthread_mutex_unlock(&all->line.lock);
}
