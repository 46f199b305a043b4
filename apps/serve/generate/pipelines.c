// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See generate.h: the pipelines that are served.
#include "apps/serve/generate/generators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool has_index(const char *folder)
{
    char path[4096];
    struct stat facts;
    const int length = snprintf(path, sizeof path, "%s/model_index.json", folder);
    return length > 0 && (size_t)length < sizeof path && stat(path, &facts) == 0;
}

// Those that are found where models are searched for, by their names.
static bool is_name(const char *word)
{
    return strcmp(word, "zenith-words") == 0 || strcmp(word, "z-image-turbo") == 0;
}

bool serve_is_pipeline(const char *word)
{
    const char *equals = strchr(word, '=');
    return is_name(word) || has_index(word) || (equals != NULL && has_index(equals + 1));
}

// The folder, or a name where models are searched for; and what requests call it.
static const char *split_word(const char *word, char *name, size_t size)
{
    const char *equals = strchr(word, '='), *folder = word;
    size_t length = strlen(word);
    if (is_name(word)) {
        snprintf(name, size, "%s", word);
        return word;
    }
    if (!has_index(word) && equals != NULL) {
        folder = equals + 1;
        length = (size_t)(equals - word);
    }
    while (length > 1 && word[length - 1] == '/') length--;
    const char *begin = word + length;
    while (folder == word && begin > word && begin[-1] != '/') begin--;
    if (folder != word) begin = word;
    snprintf(name, size, "%.*s", (int)(word + length - begin), begin);
    return folder;
}

// As in `zenith generate`: a lone file can be alike for several models, and the one is meant whose
// latents these are.
static zenith_status open_own(serve_generators *all, const serve_pipeline *p, unsigned parts,
                              zenith_model **out)
{
    const char *const names[] = {NULL, p->info.latents, "taef1"};
    zenith_status status = ZENITH_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const zenith_model_params params = {.size = sizeof params,
                                            .name = names[i],
                                            .weights = p->info.autoencoder,
                                            .parts = parts};
        status = zenith_model_open(all->context, &params, out);
        if (status == ZENITH_OK || (i == 0 && status != ZENITH_AMBIGUOUS)) break;
    }
    return status;
}

static zenith_status open_named(zenith_context *context, const char *name, unsigned parts,
                                zenith_model **out)
{
    const zenith_model_params params = {.size = sizeof params, .name = name, .parts = parts};
    return zenith_model_open(context, &params, out);
}

static zenith_status open_decoder(serve_generators *all, serve_pipeline *p)
{
    zenith_status status = p->info.autoencoder != NULL
                               ? open_own(all, p, ZENITH_DECODER, &p->decoder)
                               : open_named(all->context, "zenith-f1-fast", ZENITH_DECODER,
                                            &p->decoder);
    if (status != ZENITH_OK) return status;
    p->decoder_info = (zenith_model_info){.size = sizeof p->decoder_info};
    zenith_model_get_info(p->decoder, &p->decoder_info);
    return ZENITH_OK;
}

// What is not found leaves requests for it with a sentence, or with the usual decoder.
static void open_rest(serve_generators *all, serve_pipeline *p)
{
    static const char *const small[] = {"zenith-f1-small", "zenith-f1-fast", "taef1"};
    if ((p->info.autoencoder != NULL ? open_own(all, p, ZENITH_ENCODER, &p->encoder)
                                     : open_named(all->context, p->decoder_info.name,
                                                  ZENITH_ENCODER, &p->encoder)) != ZENITH_OK)
        p->encoder = NULL;
    for (size_t i = 0; i < sizeof small / sizeof *small && p->preview == NULL; i++)
        if (zenith_models_share_latents(small[i], p->info.latents) &&
            open_named(all->previewing, small[i], ZENITH_DECODER, &p->preview) != ZENITH_OK)
            p->preview = NULL;
}

static bool is_taken(const serve_generators *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0) return true;
    return false;
}

// --- one pipeline -------------------------------------------------------------------------------

void serve_pipeline_free(serve_pipeline *p)
{
    if (p == NULL) return;
    zenith_model_free(p->preview);
    zenith_model_free(p->encoder);
    zenith_model_free(p->decoder);
    zenith_generator_free(p->generator);
    free(p);
}

// Plans of the line's context hold packed weights too.
static void retire(serve_errand *errand)
{
    serve_pipeline *p = (serve_pipeline *)errand;
    zenith_generator_trim(p->all->context, p->generator);
}

static void free_retired(void *cookie)
{
    serve_pipeline_free(cookie);
}

static double no_time(const serve_errand *errand)
{
    (void)errand;
    return 0;
}

serve_pipeline *serve_pipeline_hold(serve_generators *all, size_t index)
{
    pthread_mutex_lock(&all->line.lock);
    serve_pipeline *p = all->list[index];
    p->held++;
    pthread_mutex_unlock(&all->line.lock);
    return p;
}

void serve_pipeline_leave(serve_pipeline *p)
{
    pthread_mutex_lock(&p->all->line.lock);
    const bool last = --p->held == 0;
    pthread_mutex_unlock(&p->all->line.lock);
    if (last) serve_line_start(&p->all->line, &p->retirement, free_retired, p);
}

// NULL: the context says why.
static serve_pipeline *open_folder(serve_generators *all, const char *folder, const char *name)
{
    serve_pipeline *p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    *p = (serve_pipeline){
        .retirement = {.run = retire, .left = no_time}, .all = all, .held = 1, .name = name};
    const zenith_generator_params where = {.size = sizeof where, .folder = folder};
    zenith_status status = zenith_generator_open(all->context, &where, &p->generator);
    if (status == ZENITH_OK) {
        p->info = (zenith_generator_info){.size = sizeof p->info};
        zenith_generator_get_info(p->generator, &p->info);
        status = open_decoder(all, p);
    }
    if (status == ZENITH_OK) {
        open_rest(all, p);
        return p;
    }
    serve_pipeline_free(p);
    return NULL;
}

// --- all of them --------------------------------------------------------------------------------

bool serve_generators_add(serve_generators *all, const char *word)
{
    char name[sizeof all->names[0]];
    const char *folder = split_word(word, name, sizeof name);
    if (all->count == SERVE_PIPELINES || name[0] == 0 || is_taken(all, name)) {
        all->settings.say("'%s' cannot be served: a pipeline is named once, and there are at most "
                          "%d",
                          word, SERVE_PIPELINES);
        return false;
    }
    memcpy(all->names[all->count], name, sizeof name);
    all->words[all->count] = word;
    serve_pipeline *p = open_folder(all, folder, all->names[all->count]);
    if (p == NULL)
        all->settings.say("%s: %s", name, zenith_context_error(all->context));
    else
        all->list[all->count++] = p;
    return p != NULL;
}

const char *serve_generators_reopen(serve_generators *all, size_t index)
{
    char name[sizeof all->names[0]];
    const char *folder = split_word(all->words[index], name, sizeof name);
    serve_pipeline *p = open_folder(all, folder, all->names[index]);
    if (p == NULL) return zenith_context_error(all->context);
    pthread_mutex_lock(&all->line.lock);
    serve_pipeline *old = all->list[index];
    all->list[index] = p;
    pthread_mutex_unlock(&all->line.lock);
    serve_pipeline_leave(old);
    return NULL;
}

size_t serve_generators_count(const serve_generators *all)
{
    return all != NULL ? all->count : 0;
}

const char *serve_generators_name(const serve_generators *all, size_t index)
{
    return all->names[index];
}

json_t *serve_generators_describe(serve_generators *all, size_t index, double created)
{
    serve_pipeline *p = serve_pipeline_hold(all, index);
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:s, s:s, s:b, s:b, s:s, s:I, s:I}", "id", p->name, "object", "model",
        "created", (json_int_t)created, "owned_by", "zenith", "description", "pictures from text",
        "generate", true, "edit", (int)(p->encoder != NULL), "transformer", p->info.name,
        "multiple", (json_int_t)p->info.multiple, "parameters", (json_int_t)p->info.parameters);
    if (p->info.side > 0) json_object_set_new(object, "side", json_integer(p->info.side));
    serve_pipeline_leave(p);
    return object;
}

const char *serve_generators_chosen(serve_generators *all)
{
    pthread_mutex_lock(&all->line.lock);
    const size_t chosen = all->chosen;
    pthread_mutex_unlock(&all->line.lock);
    return all->names[chosen];
}

bool serve_generators_choose(serve_generators *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->names[i], name) != 0) continue;
        pthread_mutex_lock(&all->line.lock);
        all->chosen = i;
        pthread_mutex_unlock(&all->line.lock);
        return true;
    }
    return false;
}
