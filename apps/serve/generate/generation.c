// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See generate.h: one request for pictures, from its wish to its results, and the events on the
// way.
#include "apps/serve/generate/generators.h"

#include <stdlib.h>
#include <string.h>

double serve_generation_work(const serve_generation *g)
{
    return (double)g->wish.count * g->wish.steps * g->wish.width * g->wish.height;
}

// --- opening ------------------------------------------------------------------------------------

// Holds it.
static serve_pipeline *find(serve_generators *all, const char *name, serve_failure *failure)
{
    const char *wanted = *name || all == NULL || all->count == 0 ? name
                                                                 : serve_generators_chosen(all);
    for (size_t i = 0; all != NULL && i < all->count; i++)
        if (strcmp(all->names[i], wanted) == 0) return serve_pipeline_hold(all, i);
    serve_fail(failure, 404, "model_not_found",
               *name ? "there is no model '%.60s' here that makes pictures"
                     : "no model here makes pictures%s: start the server with zenith-words or a "
                       "pipeline's folder",
               name);
    return NULL;
}

static bool open_source(serve_generation *g, serve_generators *all, uint32_t turned[2],
                        serve_failure *failure)
{
    zenith_source_params params = {.size = sizeof params,
                                   .fit = g->wish.width ? ZENITH_FIT_RESIZE : ZENITH_FIT_PAD,
                                   .multiple = g->with->info.multiple,
                                   .width = g->wish.width,
                                   .height = g->wish.height,
                                   .background = {255, 255, 255},
                                   .max_pixels = all->settings.max_pixels,
                                   .max_memory = all->settings.queue_memory};
    zenith_source_info info = {.size = sizeof info};
    zenith_source_free(g->source);
    g->source = NULL;
    zenith_status status = zenith_source_open_memory(all->reading, g->wish.image,
                                                     g->wish.image_size, &params, &g->source);
    if (status != ZENITH_OK)
        return serve_fail_status(failure, status, zenith_context_error(all->reading));
    zenith_source_get_info(g->source, &info);
    turned[0] = info.turned_width;
    turned[1] = info.turned_height;
    return true;
}

// The picture's header is looked at twice: for its size, and then to be brought to that in the
// pipeline's multiples.
static bool settle(serve_generation *g, serve_generators *all, serve_failure *failure)
{
    uint32_t turned[2] = {0, 0};
    const uint64_t most = all->settings.max_pixels;
    const bool given = g->wish.width != 0, from = g->wish.image != NULL;
    if (from && g->with->encoder == NULL)
        return serve_fail_content(failure, "%s has no encoder for a picture to begin with",
                                  g->with->name);
    if (given && !serve_wish_settle(&g->wish, &g->with->info, turned, most, failure)) return false;
    if (from && !open_source(g, all, turned, failure)) return false;
    if (!given && !serve_wish_settle(&g->wish, &g->with->info, turned, most, failure)) return false;
    return !from || given || open_source(g, all, turned, failure);
}

static bool allocate(serve_generation *g, serve_failure *failure)
{
    g->latent = calloc(1, serve_generation_latent_bytes(g));
    if (g->source != NULL) g->first = calloc(1, serve_generation_latent_bytes(g));
    const bool good = g->latent != NULL && (g->source == NULL || g->first != NULL) &&
                      zenith_bytes_create(&g->preview) == ZENITH_OK &&
                      zenith_cancel_create(&g->errand.cancel) == ZENITH_OK;
    return good || serve_fail_memory(failure);
}

bool serve_generation_open(serve_generators *all, const serve_generation_params *params,
                           serve_generation **out, int *retry_after, serve_failure *failure)
{
    serve_pipeline *with = find(all, params->wish->model, failure);
    if (with == NULL) return false;
    serve_generation *g = calloc(1, sizeof *g);
    if (g == NULL) {
        serve_pipeline_leave(with);
        return serve_fail_memory(failure);
    }
    g->with = with;
    g->wish = *params->wish;
    g->kind = params->kind;
    g->event = params->event;
    g->errand.run = serve_generation_make;
    g->errand.left = serve_generation_left;
    pthread_mutex_init(&g->lock, NULL);
    if (settle(g, all, failure) && serve_generators_enter(all, g, retry_after, failure) &&
        allocate(g, failure)) {
        *params->wish = (serve_wish){0};
        *out = g;
        return true;
    }
    g->wish = (serve_wish){0};
    serve_generation_free(g);
    return false;
}

// Pictures as files, as base64 and in the answer; PNG files of noise are the largest.
uint64_t serve_generation_bytes(const serve_generation *g)
{
    const uint64_t file = (uint64_t)g->wish.width * g->wish.height * 3 + (64 << 10);
    return (g->wish.count + g->wish.partial) * file * 4 + 2 * serve_generation_latent_bytes(g) +
           (g->wish.own != NULL ? g->wish.image_size : 0);
}

void serve_generation_free(serve_generation *g)
{
    if (g == NULL) return;
    if (g->all != NULL) serve_generators_leave(g->all, g);
    serve_pipeline_leave(g->with);
    for (size_t i = 0; i < SERVE_MOST_PICTURES; i++) {
        zenith_bytes_free(g->pictures[i]);
        free(g->texts[i]);
    }
    zenith_bytes_free(g->preview);
    zenith_source_free(g->source);
    zenith_cancel_free(g->errand.cancel);
    serve_wish_free(&g->wish);
    free(g->latent);
    free(g->first);
    free(g->said);
    free(g->kept);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

// --- results ------------------------------------------------------------------------------------

const serve_wish *serve_generation_wish(const serve_generation *g)
{
    return &g->wish;
}

int serve_generation_kind(const serve_generation *g)
{
    return g->kind;
}

bool serve_generation_result(const serve_generation *g, serve_failure *failure)
{
    if (g->errand.failure.code == 0) return true;
    *failure = g->errand.failure;
    return false;
}

bool serve_generation_interrupted(const serve_generation *g)
{
    return atomic_load(&g->interrupted);
}

uint32_t serve_generation_made(const serve_generation *g)
{
    return g->made;
}

const void *serve_generation_picture(const serve_generation *g, uint32_t index, size_t *size)
{
    return zenith_bytes_get(g->pictures[index], size);
}

const char *serve_generation_text(const serve_generation *g, uint32_t index)
{
    return g->texts[index];
}

// --- events -------------------------------------------------------------------------------------

void serve_generation_say(serve_generation *g, char *text, bool last)
{
    const size_t length = text != NULL ? strlen(text) : 0;
    pthread_mutex_lock(&g->lock);
    char *larger = length > 0 ? realloc(g->said, g->said_size + length) : NULL;
    if (larger != NULL) {
        memcpy(larger + g->said_size, text, length);
        g->said = larger;
        g->said_size += length;
    }
    g->last = g->last || last;
    const bool sleeping = g->sleeping;
    g->sleeping = false;
    if (sleeping) g->wake(g->wake_cookie);
    pthread_mutex_unlock(&g->lock);
    free(text);
}

void serve_generation_keep(serve_generation *g, char *text)
{
    if (text == NULL) return;
    pthread_mutex_lock(&g->lock);
    free(g->kept);
    g->kept = text;
    g->kept_number++;
    pthread_mutex_unlock(&g->lock);
}

char *serve_generation_kept(serve_generation *g, unsigned *seen)
{
    char *text = NULL;
    pthread_mutex_lock(&g->lock);
    if (g->kept_number > *seen) text = strdup(g->kept);
    if (text != NULL) *seen = g->kept_number;
    pthread_mutex_unlock(&g->lock);
    return text;
}

ssize_t serve_generation_read(serve_generation *g, char *dst, size_t most,
                              void (*wait)(void *cookie), void (*wake)(void *cookie), void *cookie)
{
    pthread_mutex_lock(&g->lock);
    const size_t left = g->said_size - g->said_read, size = left < most ? left : most;
    if (size > 0) {
        memcpy(dst, g->said + g->said_read, size);
        g->said_read += size;
    }
    if (size > 0 && g->said_read == g->said_size) g->said_read = g->said_size = 0;
    const bool last = g->last;
    if (size == 0 && !last) {
        g->sleeping = true;
        g->wake = wake;
        g->wake_cookie = cookie;
        wait(cookie);
    }
    pthread_mutex_unlock(&g->lock);
    return size > 0 ? (ssize_t)size : last ? -1 : 0;
}
